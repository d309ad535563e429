// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.plan;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.client.PravegaConnection;
import io.github.murmuration.pravega.spark.read.segment.SegmentSlice;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.StreamCut;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Plans what is read of one stream: next cuts, and the slices between two cuts. */
public record StreamReads(PravegaConnection connection, Stream stream, boolean failOnDataLoss,
        StreamGraph graph, SeenEvents seen, Turns turns) {
    private static final Logger LOG = LoggerFactory.getLogger(StreamReads.class);

    public StreamReads(PravegaConnection connection, Stream stream, boolean failOnDataLoss) {
        this(connection, stream, failOnDataLoss,
                new StreamGraph(connection, failOnDataLoss), new SeenEvents(), new Turns());
    }

    public StreamCut resolveStart(StreamBound start) {
        if (start.isCut()) {
            return requireOwn(start.cut());
        }
        return start == StreamBound.LATEST ? end() : connection.metadata().head(stream);
    }

    public StreamCut resolveEnd(StreamBound end) {
        return end.isCut() ? requireOwn(end.cut()) : end();
    }

    /** @throws IllegalArgumentException if the cut belongs to another stream */
    public StreamCut requireOwn(StreamCut cut) {
        Stream owner = cut.asImpl().getStream();
        if (!owner.equals(stream)) {
            throw new IllegalArgumentException(
                    "the stream cut belongs to " + owner.getScopedName() + ", not to " + stream.getScopedName());
        }
        return cut;
    }

    /** @throws IllegalArgumentException if events lie between the given end and the start behind it */
    public void requireInOrder(StreamBound start, StreamCut from, StreamBound end) {
        if (end.isCut() && start != StreamBound.EARLIEST && !slices(end.cut(), from).isEmpty()) {
            throw new IllegalArgumentException(PravegaOptions.END_STREAM_CUT + " lies before "
                    + PravegaOptions.START_STREAM_CUT + ", in one segment at least: exchange or leave out one of them");
        }
    }

    /** The tail; of a sealed stream the ends of its last segments. */
    public StreamCut end() {
        StreamCut tail = connection.metadata().tail(stream);
        return tail.asImpl().getPositions().isEmpty()
                ? walk(connection.metadata().head(stream), tail, new ArrayList<>()) : tail;
    }

    /** The cut to which one micro-batch reads from {@code start}, at most up to {@code target}. */
    public StreamCut next(StreamCut start, StreamCut target, ReadBudget budget) {
        Frontier frontier = from(start, target);
        seen.tail(frontier.cut(), target);
        SkipReader boundaries = new SkipReader(connection, failOnDataLoss, seen);
        return frontier.after(budget.limit(frontier.slices(target, graph), boundaries, turns)).cut();
    }

    /** Everything between two cuts, however often the stream scaled. */
    public List<SegmentSlice> slices(StreamCut start, StreamCut end) {
        List<SegmentSlice> slices = new ArrayList<>();
        walk(start, end, slices);
        return slices;
    }

    private StreamCut walk(StreamCut start, StreamCut end, List<SegmentSlice> collected) {
        Frontier frontier = from(start, end);
        List<SegmentSlice> slices = frontier.slices(end, graph);
        while (!slices.isEmpty()) {
            collected.addAll(slices);
            frontier = frontier.after(slices).pastSealed(end, graph);
            slices = frontier.slices(end, graph);
        }
        return frontier.cut();
    }

    /** Where reading begins: at the head, if the start belongs to a deleted stream of the same name. */
    private Frontier from(StreamCut start, StreamCut target) {
        Frontier frontier = Frontier.at(start);
        if (!frontier.leadsTo(target, graph) && !frontier.leadsTo(end(), graph)) {
            if (failOnDataLoss) {
                throw PravegaException.createdAnew(stream);
            }
            LOG.warn("stream {} was deleted and created anew; what was not read of the old one is lost", stream);
            frontier = Frontier.at(connection.metadata().head(stream));
        }
        return frontier.pastSealed(target, graph);
    }
}
