package murmuration.pravega;

import io.pravega.client.stream.EventStreamWriter;
import io.pravega.client.stream.Serializer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Writes blocks of events. No call blocks for longer than it is told: the client blocks its caller while it looks for
 * a lost server, so it is called in a thread of its own.
 */
public final class BlockWriter implements AutoCloseable {
    private static final long CLOSE_MS = 5_000;

    private final EventStreamWriter<ByteBuffer> writer;
    private final InFlight inFlight;
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final Room room = new Room();
    private final ExecutorService sender = Executors.newSingleThreadExecutor(BlockWriter::daemon);
    private volatile boolean closed;

    /** Of so many events and bytes in flight. */
    public BlockWriter(EventStreamWriter<ByteBuffer> writer, int maxEvents, long maxBytes) {
        this.writer = writer;
        this.inFlight = new InFlight(maxEvents, maxBytes);
    }

    /** Where the caller lays a block of so many bytes. */
    public ByteBuffer room(int bytes) {
        return room.first(bytes);
    }

    /**
     * Takes the block that was laid into {@link #room}: {@code events} events, each as length of the routing key,
     * length of the event (32 bits), key in UTF-8, event; false if too much was in flight for {@code timeoutMs}.
     */
    public boolean offer(int bytes, int events, long timeoutMs) throws InterruptedException {
        if (!inFlight.began(events, bytes, timeoutMs)) {
            return false;
        }
        try {
            byte[] block = new byte[bytes];
            room.first(bytes).get(0, block);
            sender.execute(() -> write(ByteBuffer.wrap(block), events));
        } catch (Throwable untaken) {
            inFlight.ended(events, bytes);
            throw untaken;
        }
        return true;
    }

    /** Says that no more comes: otherwise the client keeps the last events for tens of milliseconds, to add others. */
    public void push() {
        sender.execute(() -> {
            try {
                writer.flush();
            } catch (Throwable failed) {
                failure.compareAndSet(null, failed);
            }
        });
    }

    /** True when everything taken so far is acknowledged or has failed. */
    public boolean flush(long timeoutMs) throws InterruptedException {
        return inFlight.awaitNothing(timeoutMs);
    }

    /** Why the first of the events that failed did so; null if none has. */
    public String failure() {
        Throwable cause = failure.get();
        return cause == null ? null : cause.toString();
    }

    private void write(ByteBuffer block, int events) {
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        try {
            while (block.hasRemaining()) {
                sent.add(send(block));
            }
        } catch (Throwable refused) { // an error, too: nobody else would tell of it, and a flush would wait for ever
            sent.add(CompletableFuture.failedFuture(refused));
        }
        CompletableFuture.allOf(sent.toArray(CompletableFuture[]::new)).whenComplete((done, failed) -> {
            if (failed != null) {
                failure.compareAndSet(null, failed.getCause() == null ? failed : failed.getCause());
            }
            inFlight.ended(events, block.capacity());
        });
    }

    private CompletableFuture<Void> send(ByteBuffer block) {
        if (closed) {
            throw new IllegalStateException("closed before it was sent");
        }
        byte[] key = new byte[block.getInt()];
        int length = block.getInt();
        block.get(key);
        ByteBuffer event = block.slice(block.position(), length);
        block.position(block.position() + length);
        return writer.writeEvent(new String(key, StandardCharsets.UTF_8), event);
    }

    /** Bounded: what was not flushed may be lost, and what waits is not sent any more. */
    @Override
    public void close() throws InterruptedException {
        closed = true;
        sender.execute(writer::close);
        sender.shutdown();
        sender.awaitTermination(CLOSE_MS, TimeUnit.MILLISECONDS);
    }

    /** A thread for which a process does not wait at its end. */
    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task, "block-writer");
        thread.setDaemon(true);
        return thread;
    }

    static final class Bytes implements Serializer<ByteBuffer> {
        @Override
        public ByteBuffer serialize(ByteBuffer event) {
            return event;
        }

        @Override
        public ByteBuffer deserialize(ByteBuffer event) {
            return event;
        }
    }
}
