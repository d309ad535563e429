package io.github.murmuration.pravega.spark;

import io.pravega.client.segment.impl.Segment;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Where a query appends its small epochs: each to one segment, to the next segment the next. */
final class EpochSegments {
    private final List<Segment> segments;
    private final Function<Segment, NumberedAppends> open;
    private final Map<Segment, NumberedAppends> appends = new HashMap<>();

    EpochSegments(List<Segment> segments, Function<Segment, NumberedAppends> open) {
        this.segments = segments;
        this.open = open;
    }

    /** The segment of an epoch, the same whenever it is asked for. */
    static Segment of(List<Segment> segments, long epoch) {
        return segments.get((int) (epoch % segments.size()));
    }

    boolean are(List<Segment> others) {
        return segments.equals(others);
    }

    /** @throws SegmentEndedException if the epoch's segment is sealed or gone; then nothing was appended */
    synchronized void append(long epoch, ByteBuffer events) {
        appends.computeIfAbsent(of(segments, epoch), open).append(epoch, events);
    }

    synchronized void close() {
        appends.values().forEach(NumberedAppends::close);
    }
}
