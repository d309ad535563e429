// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.append;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.client.LastUse;
import io.github.murmuration.pravega.spark.client.PravegaConnection;
import io.pravega.client.segment.impl.Segment;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a query that this JVM runs appends its small epochs: each to one segment, to the next segment the next.
 *
 * <p>As long as one epoch follows the other here, no other driver can have begun the next one before this: what the
 * query's record tells is known, and what a vanished segment held does not matter. That outlives the connection, which
 * ends between epochs that are far apart.
 */
public final class EpochSegments implements PravegaConnection.Kept {
    private static final Logger LOG = LoggerFactory.getLogger(EpochSegments.class);
    /** What this JVM did of each query, by cluster and query. */
    private static final Map<List<Object>, Done> DONE = new ConcurrentHashMap<>();

    /** Epochs: the last that was written, that for which segments were named, the last that was sent to be appended. */
    private static final class Done {
        private long written = -1;
        private long named = -1;
        private long tried = -1;
    }

    private final Function<Segment, SegmentEpochs> open;
    private final Done done;
    private final Map<Segment, SegmentEpochs> epochs = new HashMap<>();
    private final LastUse use = new LastUse();
    private List<Segment> segments = List.of();

    private EpochSegments(PravegaConnection connection, UUID query) {
        open = segment -> new SegmentEpochs(connection.controller(), connection.pool(), segment, query);
        done = DONE.computeIfAbsent(List.of(connection.cluster(), query), absent -> new Done());
    }

    /** Those of a query, the same as long as the connection is open. */
    public static EpochSegments of(PravegaConnection connection, UUID query) {
        return connection.kept(query, () -> new EpochSegments(connection, query));
    }

    /** The segment of an epoch, the same whenever it is asked for. */
    public static Segment of(List<Segment> segments, long epoch) {
        return segments.get((int) (epoch % segments.size()));
    }

    /** Whether the query's record is known to name these segments. */
    public synchronized boolean areNamed(List<Segment> others, long epoch) {
        use.now();
        return follows(epoch) && segments.equals(others);
    }

    /** The query's record names these segments, and did before. */
    public synchronized void found(List<Segment> others) {
        close();
        segments = others;
    }

    /** This JVM has named these segments in the query's record, for this epoch: none was appended to them before. */
    public synchronized void named(List<Segment> others, long epoch) {
        found(others);
        done.named = epoch;
    }

    /** The epoch is written, by whatever way. */
    public synchronized void written(long epoch) {
        use.now();
        done.written = epoch;
    }

    /** See {@link SegmentEpochs#append}. An epoch that this JVM begins and finds there is another driver's. */
    public synchronized EpochState append(long epoch, ByteBuffer events) {
        SegmentEpochs target = epochs.computeIfAbsent(of(segments, epoch), open);
        try {
            return target.append(epoch, events, follows(epoch) && done.tried != epoch);
        } finally {
            done.tried = Math.max(done.tried, target.sent());
        }
    }

    /** @throws PravegaException if one of the segments, which a record names, holds a later epoch */
    public synchronized void requireNotBehind(List<Segment> named, long epoch) {
        if (follows(epoch)) {
            return;
        }
        for (Segment segment : named) {
            try {
                epochs.computeIfAbsent(segment, open).requireNotBehind(epoch);
            } catch (SegmentEndedException gone) {
                LOG.debug("{} is gone, and what it held of epochs", segment, gone);
            }
        }
    }

    /**
     * Sees to it that an epoch is appended to none of the segments that an earlier record names.
     *
     * @param ifUnknown tells what to take it for if its segment is gone, and another driver may have written there
     */
    public synchronized EpochState fence(List<Segment> named, long epoch, Function<Segment, EpochState> ifUnknown) {
        if (named.isEmpty()) {
            return EpochState.FENCED;
        }
        requireNotBehind(named, epoch);
        Segment segment = of(named, epoch);
        try {
            return epochs.computeIfAbsent(segment, open).fence(epoch);
        } catch (SegmentEndedException gone) {
            boolean isOurs = follows(epoch) && done.tried != epoch || done.named == epoch;
            return isOurs ? EpochState.FENCED : ifUnknown.apply(segment);
        }
    }

    /** Whether connections were let go of since no epoch was written for a while. A late one makes them anew. */
    @Override
    public synchronized boolean closeIfUnused() {
        if (!use.isLongAgo()) {
            return false;
        }
        epochs.values().forEach(SegmentEpochs::close);
        return true;
    }

    /** Lets go of connections. */
    @Override
    public synchronized void close() {
        epochs.values().forEach(SegmentEpochs::close);
        epochs.clear();
        segments = List.of();
    }

    private boolean follows(long epoch) {
        return done.written >= 0 && done.written == epoch - 1;
    }
}
