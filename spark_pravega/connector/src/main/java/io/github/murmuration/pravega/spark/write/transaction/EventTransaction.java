// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.transaction;

import io.github.murmuration.pravega.spark.client.PravegaConnection;
import io.github.murmuration.pravega.spark.client.Waiting;
import io.pravega.client.security.auth.DelegationTokenProvider;
import io.pravega.client.security.auth.DelegationTokenProviderFactory;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.segment.impl.SegmentSealedException;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.impl.StreamSegments;
import io.pravega.client.stream.impl.TxnSegments;
import io.pravega.shared.security.auth.AccessOperation;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transaction in which one task attempt writes to one stream.
 *
 * <p>Unlike the client's own, it begins while the task goes on, opens a segment only when an event goes there, lets go
 * of all connections when it is flushed, and stays alive until it is ended, in this JVM or another.
 */
final class EventTransaction {
    private static final Logger LOG = LoggerFactory.getLogger(EventTransaction.class);
    private static final long BEGIN_LIMIT_SECONDS = 60;
    /** Rarely a transaction needs so long to begin: then perhaps its lease is too long. */
    private static final long BEGIN_DOUBT_SECONDS = 3;
    /** Events that are kept while the transaction begins. */
    private static final int WAITING_LIMIT = 1000;

    /** Larger appends cost no less. */
    private static final int APPEND_BYTES = 64 << 10;

    private record WaitingEvent(String routingKey, byte[] event) {
    }

    private final PravegaConnection connection;
    private final Stream stream;
    private final long leaseMs;
    private final int appendBytes;
    private final CompletableFuture<TxnSegments> beginning;
    private final DelegationTokenProvider token;
    private final Queue<WaitingEvent> waiting = new ArrayDeque<>();
    private final Map<Segment, SegmentAppends> outputs = new HashMap<>();
    private final OutstandingBytes outstanding = new OutstandingBytes();
    private long rows;
    /** Where to begin with events without a key, so that not all tasks begin with the same segment. */
    private int turn = ThreadLocalRandom.current().nextInt(1 << 16);
    private List<Segment> segments;

    /**
     * Begins a transaction, without waiting for it.
     *
     * @param counted whether the stream scales by itself, perhaps by the number of events: then none is put together
     *     with others, as a segment counts appends
     */
    EventTransaction(PravegaConnection connection, UUID write, Stream stream, long leaseMs, boolean counted) {
        this.connection = connection;
        this.stream = stream;
        this.leaseMs = leaseMs;
        appendBytes = counted ? 0 : APPEND_BYTES;
        token = DelegationTokenProviderFactory.create(
                connection.controller(), stream.getScope(), stream.getStreamName(), AccessOperation.WRITE);
        beginning = connection.controller().createTransaction(stream, leaseMs).thenApply(begun -> {
            connection.leases().keep(write, stream, begun.getTxnId(), leaseMs);
            return begun;
        });
    }

    /**
     * Sends an event; a failure may show in a later call, at the latest in {@link #flush}.
     *
     * @param routingKey null if it has none: such events go to one segment after the other
     */
    void write(String routingKey, byte[] event) throws InterruptedException {
        rows++;
        if (!beginning.isDone() && waiting.size() < WAITING_LIMIT) {
            waiting.add(new WaitingEvent(routingKey, event));
        } else {
            sendWaiting();
            send(routingKey, event);
        }
    }

    /** Returns when every event is durable in the transaction, which then only waits for its end. */
    TransactionId flush(int partition) throws SegmentSealedException, InterruptedException {
        sendWaiting();
        for (SegmentAppends output : outputs.values()) {
            output.flushAsync();
        }
        for (SegmentAppends output : outputs.values()) {
            output.flush();
        }
        outstanding.throwIfFailed(stream.getScopedName());
        close();
        UUID id = begun().getTxnId();
        connection.leases().written(id);
        return new TransactionId(stream.getScope(), stream.getStreamName(), id, partition, rows);
    }

    /** Aborts, without waiting, since the thread may be interrupted. What cannot be aborted expires by itself. */
    void abort() {
        beginning.thenCompose(begun -> {
            connection.leases().end(begun.getTxnId());
            return connection.controller().abortTransaction(stream, begun.getTxnId());
        }).exceptionally(failure -> {
            LOG.info("A transaction on {} was not aborted, it will expire", stream.getScopedName(), failure);
            return null;
        });
        try {
            close();
        } catch (SegmentSealedException | RuntimeException gone) {
            LOG.debug("Segments of an aborted transaction on {} are gone", stream.getScopedName(), gone);
        }
    }

    private TxnSegments begun() {
        TxnSegments begun = beginning.isDone() ? Waiting.on(beginning)
                : Waiting.on(beginning.copy().completeOnTimeout(null, BEGIN_DOUBT_SECONDS, TimeUnit.SECONDS));
        if (begun != null) {
            return begun;
        }
        connection.leases().limit().require(stream, leaseMs);
        return Waiting.on(beginning, BEGIN_LIMIT_SECONDS, "no transaction was begun on " + stream.getScopedName()
                + " within " + BEGIN_LIMIT_SECONDS + " s");
    }

    private void sendWaiting() throws InterruptedException {
        for (WaitingEvent event = waiting.poll(); event != null; event = waiting.poll()) {
            send(event.routingKey(), event.event());
        }
    }

    private void send(String routingKey, byte[] event) throws InterruptedException {
        outstanding.throwIfFailed(stream.getScopedName());
        TxnSegments begun = begun();
        Segment segment = target(begun.getStreamSegments(), routingKey);
        outputs.computeIfAbsent(segment, absent -> open(absent, begun.getTxnId())).add(event);
    }

    /** Where there is no choice the key need not be hashed, which is a third of what sending an event takes. */
    private Segment target(StreamSegments all, String routingKey) {
        if (segments == null) {
            segments = List.copyOf(all.getSegments());
        }
        return routingKey == null || segments.size() == 1
                ? segments.get(turn++ % segments.size()) : all.getSegmentForKey(routingKey);
    }

    private SegmentAppends open(Segment segment, UUID transaction) {
        return new SegmentAppends(connection.outputs().createOutputStreamForTransaction(
                segment, transaction, PravegaConnection.WRITERS, token), outstanding, appendBytes);
    }

    private void close() throws SegmentSealedException {
        for (SegmentAppends output : outputs.values()) {
            output.close();
        }
        outputs.clear();
    }
}
