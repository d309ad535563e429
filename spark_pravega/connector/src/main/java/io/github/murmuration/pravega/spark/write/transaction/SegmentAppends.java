// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.transaction;

import io.github.murmuration.pravega.spark.write.append.KeptEvents;
import io.pravega.client.segment.impl.SegmentOutputStream;
import io.pravega.client.segment.impl.SegmentSealedException;
import io.pravega.client.stream.Serializer;
import io.pravega.client.stream.impl.PendingEvent;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/**
 * The events that a transaction has in one of its segments, put together into appends.
 *
 * <p>What an append costs the client is the same however large it is, and nobody else writes to this segment: so it
 * does not matter where an append begins and ends.
 */
final class SegmentAppends {
    /** To begin with: an executor may have hundreds of segments open, of which most get little. */
    private static final int FIRST_BYTES = 4 << 10;

    private final SegmentOutputStream output;
    private final OutstandingBytes outstanding;
    private final int limit;
    private int capacity = FIRST_BYTES;
    private ByteBuffer next;

    /** @param limit bytes above which an append is sent: 0 for each event on its own, which a segment then counts */
    SegmentAppends(SegmentOutputStream output, OutstandingBytes outstanding, int limit) {
        this.output = output;
        this.outstanding = outstanding;
        this.limit = limit;
    }

    void add(byte[] event) throws InterruptedException {
        int bytes = KeptEvents.bytes(event);
        if (next != null && next.remaining() < bytes) {
            send();
        }
        if (bytes > limit) {
            sendInPieces(KeptEvents.framed(event));
            return;
        }
        if (next == null) {
            next = ByteBuffer.allocate(Math.max(capacity, bytes));
            capacity = Math.min(limit, 4 * capacity);
        }
        KeptEvents.put(next, event);
    }

    void flushAsync() throws InterruptedException {
        send();
        output.flushAsync();
    }

    void flush() throws SegmentSealedException {
        output.flush();
    }

    void close() throws SegmentSealedException {
        output.close();
    }

    private void send() throws InterruptedException {
        if (next != null) {
            sendInPieces(next.flip());
            next = null;
        }
    }

    private void sendInPieces(ByteBuffer events) throws InterruptedException {
        while (events.hasRemaining()) {
            ByteBuffer piece = events.slice(events.position(), Math.min(events.remaining(), Serializer.MAX_EVENT_SIZE));
            events.position(events.position() + piece.remaining());
            CompletableFuture<Void> acknowledgement = new CompletableFuture<>();
            outstanding.releaseWhenDone(acknowledgement, outstanding.acquire(piece.remaining()));
            output.write(PendingEvent.withoutHeader(null, piece, acknowledgement));
        }
    }
}
