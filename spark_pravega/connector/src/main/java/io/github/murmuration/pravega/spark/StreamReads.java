package io.github.murmuration.pravega.spark;

import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.StreamCut;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Plans what is read of one stream: next cuts, and the slices between two cuts. */
record StreamReads(PravegaConnection connection, Stream stream, boolean failOnDataLoss) {
    private static final Logger LOG = LoggerFactory.getLogger(StreamReads.class);

    StreamCut resolveStart(StreamBound start) {
        if (start.isCut()) {
            return requireOwn(start.cut());
        }
        return start == StreamBound.LATEST ? end() : connection.head(stream);
    }

    StreamCut resolveEnd(StreamBound end) {
        return end.isCut() ? requireOwn(end.cut()) : end();
    }

    /** @throws IllegalArgumentException if the cut belongs to another stream */
    StreamCut requireOwn(StreamCut cut) {
        Stream owner = cut.asImpl().getStream();
        if (!owner.equals(stream)) {
            throw new IllegalArgumentException(
                    "the stream cut belongs to " + owner.getScopedName() + ", not to " + stream.getScopedName());
        }
        return cut;
    }

    /** The tail; of a sealed stream the ends of its last segments. */
    StreamCut end() {
        StreamCut tail = connection.tail(stream);
        return tail.asImpl().getPositions().isEmpty() ? walk(connection.head(stream), tail, new ArrayList<>()) : tail;
    }

    /** The cut to which one micro-batch reads from {@code start}, at most up to {@code target}. */
    StreamCut next(StreamCut start, StreamCut target, ReadBudget budget) {
        StreamGraph graph = new StreamGraph(connection, failOnDataLoss);
        Frontier frontier = Frontier.at(existing(start, target)).pastSealed(target, graph);
        List<SegmentSlice> slices = frontier.slices(target, graph);
        return frontier.after(budget.limit(slices, new SkipReader(connection, failOnDataLoss))).cut();
    }

    /** Everything between two cuts, however often the stream scaled. */
    List<SegmentSlice> slices(StreamCut start, StreamCut end) {
        List<SegmentSlice> slices = new ArrayList<>();
        walk(start, end, slices);
        return slices;
    }

    /** Bytes from one cut to a later one, with eight per event for Pravega's header; what truncation took left out. */
    long bytesBetween(StreamCut start, StreamCut end) {
        List<SegmentSlice> slices = new ArrayList<>();
        new StreamReads(connection, stream, false).walk(start, end, slices);
        return slices.stream().mapToLong(SegmentSlice::bytes).sum();
    }

    /**
     * Where to go on: at the cut itself or, if none of its segments exists any more, at the head.
     *
     * @throws PravegaException if none exists, and that is an error
     */
    private StreamCut existing(StreamCut start, StreamCut target) {
        Set<Segment> segments = start.asImpl().getPositions().keySet();
        boolean isKnown = segments.isEmpty() || segments.stream().anyMatch(
                each -> target.asImpl().getPositions().containsKey(each) || connection.exists(each));
        if (isKnown) {
            return start;
        }
        if (failOnDataLoss) {
            throw PravegaException.streamReplaced(stream);
        }
        LOG.warn("nothing is left of where {} was read before: it goes on at its head", stream.getScopedName());
        return connection.head(stream);
    }

    private StreamCut walk(StreamCut start, StreamCut end, List<SegmentSlice> collected) {
        StreamGraph graph = new StreamGraph(connection, failOnDataLoss);
        Frontier frontier = Frontier.at(existing(start, end)).pastSealed(end, graph);
        List<SegmentSlice> slices = frontier.slices(end, graph);
        while (!slices.isEmpty()) {
            collected.addAll(slices);
            frontier = frontier.after(slices).pastSealed(end, graph);
            slices = frontier.slices(end, graph);
        }
        return frontier.cut();
    }
}
