// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.client.stream;

import io.github.murmuration.pravega.spark.client.LastUse;
import io.github.murmuration.pravega.spark.client.Waiting;
import io.pravega.client.segment.impl.NoSuchSegmentException;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.segment.impl.SegmentInfo;
import io.pravega.client.segment.impl.SegmentMetadataClient;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.StreamCut;
import io.pravega.client.stream.impl.StreamCutImpl;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The ends of a stream's open segments, asked from the segment store alone.
 *
 * <p>An idle query asks many times a second. Which segments are open, and where they are, the controller is asked only
 * at first, and when one of them is sealed or gone: a scaled stream has sealed what it replaced.
 */
final class StreamTail {
    private final Stream stream;
    private final Supplier<Collection<Segment>> current;
    private final Function<Segment, SegmentMetadataClient> open;
    private final Map<Segment, SegmentMetadataClient> segments = new HashMap<>();
    private final LastUse use = new LastUse();

    /** @param current the segments that are open now, by the controller */
    StreamTail(Stream stream, Supplier<Collection<Segment>> current, Function<Segment, SegmentMetadataClient> open) {
        this.stream = stream;
        this.current = current;
        this.open = open;
    }

    /** No ends at all, if the stream is sealed. */
    synchronized StreamCut cut() {
        use.now();
        return known().orElseGet(this::asked);
    }

    /** Whether it was closed since nobody has asked for a while. */
    synchronized boolean closeIfUnused() {
        if (!use.isLongAgo()) {
            return false;
        }
        close();
        return true;
    }

    synchronized void close() {
        segments.values().forEach(SegmentMetadataClient::close);
        segments.clear();
    }

    private Optional<StreamCut> known() {
        if (segments.isEmpty()) {
            return Optional.empty();
        }
        try {
            List<SegmentInfo> ends = ends();
            return ends.stream().anyMatch(SegmentInfo::isSealed) ? Optional.empty() : Optional.of(cut(ends));
        } catch (NoSuchSegmentException gone) {
            return Optional.empty();
        }
    }

    private StreamCut asked() {
        close();
        current.get().forEach(segment -> segments.put(segment, open.apply(segment)));
        return cut(ends());
    }

    private List<SegmentInfo> ends() {
        List<CompletableFuture<SegmentInfo>> asked =
                segments.values().stream().map(SegmentMetadataClient::getSegmentInfo).toList();
        return asked.stream().map(Waiting::on).toList();
    }

    private StreamCut cut(List<SegmentInfo> ends) {
        Map<Segment, Long> positions = new HashMap<>();
        ends.forEach(end -> positions.put(end.getSegment(), end.getWriteOffset()));
        return new StreamCutImpl(stream, positions);
    }
}
