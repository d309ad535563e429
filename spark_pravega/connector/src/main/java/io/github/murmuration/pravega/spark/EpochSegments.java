package io.github.murmuration.pravega.spark;

import io.pravega.client.segment.impl.Segment;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Where a query that this JVM runs appends its small epochs: each to one segment, to the next segment the next.
 *
 * <p>As long as one epoch follows the other here, no other driver can have begun the next one before this: what the
 * query's record tells is known, and what a vanished segment held does not matter.
 */
final class EpochSegments {
    private static final long NONE = -1;

    private final Function<Segment, SegmentEpochs> open;
    private final Map<Segment, SegmentEpochs> epochs = new HashMap<>();
    private List<Segment> segments = List.of();
    private long last = NONE;
    private long named = NONE;

    EpochSegments(Function<Segment, SegmentEpochs> open) {
        this.open = open;
    }

    /** The segment of an epoch, the same whenever it is asked for. */
    static Segment of(List<Segment> segments, long epoch) {
        return segments.get((int) (epoch % segments.size()));
    }

    /** Whether the query's record is known to name these segments. */
    synchronized boolean go(List<Segment> others, long epoch) {
        return follows(epoch) && segments.equals(others);
    }

    /** The query's record names these segments. */
    synchronized void goTo(List<Segment> others) {
        close();
        segments = others;
    }

    /** It names others since this epoch, by this JVM: none was appended to them before. */
    synchronized void named(long epoch) {
        named = epoch;
    }

    /** The epoch is written, by whatever way. */
    synchronized void written(long epoch) {
        last = epoch;
    }

    /** See {@link SegmentEpochs#append}. */
    synchronized EpochState append(long epoch, ByteBuffer events) {
        return epochs.computeIfAbsent(of(segments, epoch), open).append(epoch, events);
    }

    /**
     * Sees to it that an epoch is appended to none of the segments that an earlier record names.
     *
     * @param ifUnknown tells what to take it for if its segment is gone, and another driver may have written there
     */
    synchronized EpochState fence(EpochRecord earlier, long epoch, Function<Segment, EpochState> ifUnknown) {
        if (earlier.appendedTo().isEmpty()) {
            return EpochState.FENCED;
        }
        Segment segment = of(earlier.appendedTo(), epoch);
        try {
            return epochs.computeIfAbsent(segment, open).fence(epoch);
        } catch (SegmentEndedException gone) {
            return follows(epoch) || named == epoch ? EpochState.FENCED : ifUnknown.apply(segment);
        }
    }

    /** Lets go of connections. */
    synchronized void close() {
        epochs.values().forEach(SegmentEpochs::close);
        epochs.clear();
        segments = List.of();
    }

    private boolean follows(long epoch) {
        return last != NONE && last == epoch - 1;
    }
}
