package murmuration.pravega;

import io.pravega.client.segment.impl.EndOfSegmentException;
import io.pravega.client.segment.impl.EventSegmentReader;
import io.pravega.client.segment.impl.NoSuchSegmentException;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.segment.impl.SegmentInputStreamFactory;
import io.pravega.client.segment.impl.SegmentTruncatedException;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

/** Reads chosen segments of a stream in blocks of events, as they come; for one thread. */
public final class BlockReader implements AutoCloseable {
    private static final int BUFFER_BYTES = 1 << 20;

    private final SegmentInputStreamFactory inputs;
    private final String scope;
    private final String stream;
    private final Semaphore dataHasCome = new Semaphore(0);
    private final NavigableMap<Long, EventSegmentReader> segments = new TreeMap<>();
    private final Map<Long, Long> offsets = new TreeMap<>();
    private final List<long[]> runs = new ArrayList<>();
    private final Room room = new Room();
    private long lastFirst = -1;

    BlockReader(SegmentInputStreamFactory inputs, String scope, String stream) {
        this.inputs = inputs;
        this.scope = scope;
        this.stream = stream;
    }

    /** Reads a segment from {@code offset}, which must be the beginning of an event. */
    public void open(long segmentId, long offset) {
        closeSegment(segmentId);
        EventSegmentReader reader = inputs.createEventReaderForSegment(
                new Segment(scope, stream, segmentId), BUFFER_BYTES, dataHasCome, Long.MAX_VALUE);
        reader.setOffset(offset);
        segments.put(segmentId, reader);
        offsets.put(segmentId, offset);
    }

    public void closeSegment(long segmentId) {
        EventSegmentReader reader = segments.remove(segmentId);
        offsets.remove(segmentId);
        if (reader != null) {
            reader.close();
        }
    }

    /**
     * The next events, each as its length (32 bits) and its bytes; empty if none came within {@code timeoutMs}. They
     * stay there until the next call.
     *
     * @throws SegmentFailed names the segment that cannot be read on; it has to be opened again
     */
    public ByteBuffer poll(int maxEvents, int maxBytes, long timeoutMs) throws InterruptedException, SegmentFailed {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        runs.clear();
        while (true) {
            int events = 0;
            for (Long segment : inTurn()) {
                events += take(segment, maxEvents - events, maxBytes, block);
            }
            long left = deadline - System.nanoTime();
            if (events > 0 || left <= 0) {
                return room.first(block.size()).put(0, block.toByteArray());
            }
            dataHasCome.tryAcquire(left, TimeUnit.NANOSECONDS);
            dataHasCome.drainPermits();
        }
    }

    /** All segments; each poll begins with the one after that with which the last one began, so that none starves. */
    private List<Long> inTurn() {
        List<Long> turn = new ArrayList<>(segments.tailMap(lastFirst, false).keySet());
        turn.addAll(segments.headMap(lastFirst, true).keySet());
        if (!turn.isEmpty()) {
            lastFirst = turn.get(0);
        }
        return turn;
    }

    private int take(long segment, int maxEvents, int maxBytes, ByteArrayOutputStream block) throws SegmentFailed {
        EventSegmentReader reader = segments.get(segment);
        DataOutputStream out = new DataOutputStream(block);
        long first = offsets.get(segment);
        int events = 0;
        try {
            ByteBuffer event;
            while (events < maxEvents && block.size() < maxBytes && (event = reader.read(0)) != null) {
                out.writeInt(event.remaining());
                out.write(event.array(), event.arrayOffset() + event.position(), event.remaining());
                offsets.put(segment, reader.getOffset());
                events++;
            }
        } catch (IOException | RuntimeException failed) {
            if (block.size() == 0) {
                throw new SegmentFailed(segment, failed);
            }
            // What was read already, of this segment or another, is handed out; the failure comes again.
        }
        if (events > 0) {
            runs.add(new long[] {segment, first, events});
        }
        return events;
    }

    /** Of the events that the last poll returned, in their order: segment, offset of the first, how many, segment, … */
    public long[] runs() {
        return runs.stream().flatMapToLong(LongStream::of).toArray();
    }

    /** Where each open segment is read on: id, offset, id, offset, … */
    public long[] offsets() {
        return offsets.entrySet().stream()
                .flatMapToLong(at -> LongStream.of(at.getKey(), at.getValue())).toArray();
    }

    @Override
    public void close() {
        segments.values().forEach(EventSegmentReader::close);
        segments.clear();
        offsets.clear();
    }

    /** A segment that cannot be read where it should be. */
    public static final class SegmentFailed extends Exception {
        public final long segment;
        /** Nothing will ever be there: it was truncated or sealed, or its stream was deleted. */
        public final boolean forEver;

        SegmentFailed(long segment, Throwable cause) {
            super("segment " + segment + ": " + cause, cause);
            this.segment = segment;
            this.forEver = cause instanceof SegmentTruncatedException || cause instanceof NoSuchSegmentException
                    || cause instanceof EndOfSegmentException;
        }
    }
}
