// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import io.github.murmuration.pravega.spark.write.append.EpochSegments;
import io.github.murmuration.pravega.spark.write.append.EpochState;
import io.github.murmuration.pravega.spark.write.append.NamedSegments;
import io.pravega.client.segment.impl.Segment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commits a small epoch by one append to each segment of its stream that gets something of it: there it is readable as
 * a whole or not at all.
 *
 * <p>A segment keeps the epoch's number, so an epoch that comes again finds what of it was done. The record of the
 * query names the segments, for a driver that comes after a crash when the stream has scaled.
 */
final class EpochAppend {
    private static final Logger LOG = LoggerFactory.getLogger(EpochAppend.class);

    private final EpochLog log;
    private final EpochSegments segments;
    private final long epoch;
    private final NamedSegments targets;
    private final Function<Segment, EpochState> ifUnknown;

    /** @param ifUnknown see {@link EpochSegments#fence} */
    EpochAppend(EpochLog log, EpochSegments segments, long epoch, NamedSegments targets,
            Function<Segment, EpochState> ifUnknown) {
        this.log = log;
        this.segments = segments;
        this.epoch = epoch;
        this.targets = targets;
        this.ifUnknown = ifUnknown;
    }

    /**
     * What the epoch is now: {@link EpochState#APPENDED}, {@link EpochState#FENCED} as far as it is not, or {@link
     * EpochState#ABSENT} as far as it is not, since a segment has ended, and with it what is known of the stream. Then
     * the rest, which may be all of it, goes in transactions.
     *
     * @param parts of the epoch, by segments of the targets
     */
    EpochState run(Map<Segment, ByteBuffer> parts) {
        EpochRecord itself = new EpochRecord(epoch, List.of());
        EpochStep.WRITTEN.reached(log.query(), itself);
        EpochState state = segments.areNamed(targets, epoch) ? EpochState.ABSENT : nameInRecord();
        if (state == EpochState.ABSENT) {
            state = segments.append(epoch, parts);
        }
        if (state == EpochState.APPENDED) {
            EpochStep.APPENDED.reached(log.query(), itself);
        } else {
            LOG.info("Epoch {} of query {}, or a part of it, goes in transactions: {}", epoch, log.query(),
                    state == EpochState.FENCED ? "another attempt has begun so" : "a segment has ended");
        }
        return state;
    }

    /** Makes the record name the targets, unless an earlier attempt has written the epoch, or begun to, elsewhere. */
    private EpochState nameInRecord() {
        while (true) {
            EpochRecord earlier = log.read().orElse(EpochRecord.NONE);
            NamedSegments named = earlier.appendedTo();
            earlier.requireNotAfter(epoch);
            if (earlier.epoch() == epoch) {
                return EpochState.FENCED;
            }
            if (named.include(targets)) {
                segments.requireNotBehind(named, epoch);
                segments.found(named);
                return EpochState.ABSENT;
            }
            boolean isWidened = targets.include(named); // whoever fences the epoch then does so in all of them
            Set<Segment> holding = isWidened ? Set.of() : segments.fence(named, epoch, ifUnknown);
            if (!holding.isEmpty()) {
                return holding.containsAll(named.of(epoch)) ? EpochState.APPENDED : EpochState.FENCED;
            }
            // Spark has logged the epoch before: so a driver that is still at it finds here that it is done.
            if (log.replace(new EpochRecord(epoch - 1, true, List.of(), targets)) && !isWidened) {
                segments.named(targets, epoch);
                return EpochState.ABSENT;
            }
        }
    }
}
