// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.append;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.client.LastUse;
import io.github.murmuration.pravega.spark.client.PravegaConnection;
import io.github.murmuration.pravega.spark.client.SideBySide;
import io.pravega.client.segment.impl.Segment;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a query that this JVM runs appends its small epochs: each to one segment, to the next segment the next, or
 * spread over all of them by the keys of its rows.
 *
 * <p>As long as one epoch follows the other here, no other driver can have begun the next one before this: what the
 * query's record tells is known, and what a vanished segment held does not matter. That outlives the connection, which
 * ends between epochs that are far apart.
 */
public final class EpochSegments implements PravegaConnection.Kept {
    private static final Logger LOG = LoggerFactory.getLogger(EpochSegments.class);
    /** What this JVM did of each query, by cluster and query. */
    private static final Map<List<Object>, Done> DONE = new ConcurrentHashMap<>();

    /** Epochs: the last that was written, that for which segments were named, the last that was sent to a segment. */
    private static final class Done {
        private final String run;
        private long written = -1;
        private long named = -1;
        private final Map<Segment, Long> tried = new ConcurrentHashMap<>();

        Done(String run) {
            this.run = run;
        }
    }

    private final Function<Segment, SegmentEpochs> open;
    private final List<Object> key;
    private Done done;
    private final Map<Segment, SegmentEpochs> epochs = new HashMap<>();
    private final LastUse use = new LastUse();
    private NamedSegments known = NamedSegments.NONE;

    private EpochSegments(PravegaConnection connection, UUID query) {
        open = segment -> new SegmentEpochs(connection.controller(), connection.pool(), segment, query);
        key = List.of(connection.cluster(), query);
        done = DONE.computeIfAbsent(key, absent -> new Done(""));
    }

    /** Those of a query, the same as long as the connection is open. */
    public static EpochSegments of(PravegaConnection connection, UUID query) {
        return connection.kept(query, () -> new EpochSegments(connection, query));
    }

    /** Forgets what another run of the query did here: others may have run it since. */
    public synchronized void in(String run) {
        done = DONE.compute(key, (same, known) -> known != null && known.run.equals(run) ? known : new Done(run));
    }

    /** Whether nothing of an epoch can be there from before, here or of another driver. */
    public synchronized boolean begins(long epoch) {
        return follows(epoch) && !done.tried.containsValue(epoch);
    }

    /** Whether the query's record is known to name these segments. */
    public synchronized boolean areNamed(NamedSegments others, long epoch) {
        use.now();
        return follows(epoch) && known.include(others);
    }

    /** The query's record names these segments, and did before. */
    public synchronized void found(NamedSegments named) {
        use.now();
        close();
        known = named;
    }

    /** This JVM has named these segments in the query's record, for this epoch: none was appended to them before. */
    public synchronized void named(NamedSegments named, long epoch) {
        found(named);
        done.named = epoch;
    }

    /** The epoch is written, by whatever way. */
    public synchronized void written(long epoch) {
        use.now();
        done.written = epoch;
    }

    /**
     * Appends to each segment its part of an epoch, see {@link SegmentEpochs#append}. A part that this JVM begins and
     * finds there is another driver's.
     *
     * @return {@link EpochState#APPENDED} if all are; {@link EpochState#ABSENT} if a segment has ended, which is told
     *     when nothing is under way any more
     */
    public synchronized EpochState append(long epoch, Map<Segment, ByteBuffer> parts) {
        use.now();
        Set<EpochState> states = new HashSet<>(sideBySide(parts.keySet(), (segment, target) -> {
            try {
                return target.append(epoch, parts.get(segment), begins(segment, epoch));
            } catch (SegmentEndedException ended) {
                LOG.info("Epoch {} is not appended to {}: {}", epoch, segment.getScopedName(), ended.getMessage());
                return EpochState.ABSENT;
            } finally {
                done.tried.merge(segment, target.sent(), Math::max);
            }
        }));
        return states.contains(EpochState.ABSENT) ? EpochState.ABSENT
                : states.contains(EpochState.FENCED) ? EpochState.FENCED : EpochState.APPENDED;
    }

    /** @throws PravegaException if one of the segments, which a record names, holds a later epoch */
    public synchronized void requireNotBehind(NamedSegments named, long epoch) {
        if (!follows(epoch)) {
            states(named.segments(), epoch);
        }
    }

    /**
     * Whether there is something of an epoch that may be just a part of it.
     *
     * @throws PravegaException if one of the segments, which a record names, holds a later epoch
     */
    public synchronized boolean holdAPart(NamedSegments named, long epoch) {
        return named.areSpread() && states(named.segments(), epoch).contains(EpochState.APPENDED);
    }

    /**
     * Sees to it that no more of an epoch is appended to any of the segments that an earlier record names.
     *
     * @param ifUnknown tells what to take it for if a segment is gone, and another driver may have written there
     * @return those that hold the epoch, or their part of it
     */
    public synchronized Set<Segment> fence(
            NamedSegments named, long epoch, Function<Segment, EpochState> ifUnknown) {
        use.now();
        requireNotBehind(named, epoch);
        Set<Segment> holding = ConcurrentHashMap.newKeySet();
        sideBySide(named.of(epoch), (segment, target) -> {
            EpochState state = fence(target, segment, epoch, ifUnknown);
            if (state == EpochState.APPENDED) {
                holding.add(segment);
            }
            return state;
        });
        return holding;
    }

    private EpochState fence(
            SegmentEpochs target, Segment segment, long epoch, Function<Segment, EpochState> ifUnknown) {
        try {
            return target.fence(epoch);
        } catch (SegmentEndedException gone) {
            boolean isOurs = (follows(epoch) || done.named == epoch) && isNotSent(segment, epoch);
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

    private List<EpochState> states(Collection<Segment> segments, long epoch) {
        return sideBySide(segments, (segment, target) -> {
            try {
                return target.state(epoch);
            } catch (SegmentEndedException gone) {
                LOG.debug("{} is gone, and what it held of epochs", segment, gone);
                return EpochState.ABSENT;
            }
        });
    }

    private List<EpochState> sideBySide(
            Collection<Segment> segments, BiFunction<Segment, SegmentEpochs, EpochState> work) {
        segments.forEach(segment -> epochs.computeIfAbsent(segment, open));
        return SideBySide.map(List.copyOf(segments), segment -> work.apply(segment, epochs.get(segment)));
    }

    /** Lets go of connections. */
    @Override
    public synchronized void close() {
        epochs.values().forEach(SegmentEpochs::close);
        epochs.clear();
        known = NamedSegments.NONE;
    }

    /** Whether nobody but another driver that runs now can have appended an epoch to a segment. */
    private boolean begins(Segment segment, long epoch) {
        return follows(epoch) && isNotSent(segment, epoch);
    }

    private boolean isNotSent(Segment segment, long epoch) {
        return done.tried.getOrDefault(segment, -1L) != epoch;
    }

    private boolean follows(long epoch) {
        return done.written >= 0 && done.written == epoch - 1;
    }
}
