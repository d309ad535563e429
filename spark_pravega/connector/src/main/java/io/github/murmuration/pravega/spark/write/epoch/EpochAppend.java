// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import io.github.murmuration.pravega.spark.write.append.EpochSegments;
import io.github.murmuration.pravega.spark.write.append.EpochState;
import io.github.murmuration.pravega.spark.write.append.SegmentEndedException;
import io.pravega.client.segment.impl.Segment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commits a small epoch by one append to one segment of its stream: readable as a whole or not at all.
 *
 * <p>The segment keeps the epoch's number, so an epoch that comes again finds that it was done. The record of the query
 * names the segments, for a driver that comes after a crash when the stream has scaled.
 */
public final class EpochAppend {
    private static final Logger LOG = LoggerFactory.getLogger(EpochAppend.class);

    private final EpochLog log;
    private final EpochSegments segments;
    private final long epoch;
    private final List<Segment> targets;
    private final Function<Segment, EpochState> ifUnknown;

    /** @param ifUnknown see {@link EpochSegments#fence} */
    public EpochAppend(EpochLog log, EpochSegments segments, long epoch, List<Segment> targets,
            Function<Segment, EpochState> ifUnknown) {
        this.log = log;
        this.segments = segments;
        this.epoch = epoch;
        this.targets = targets;
        this.ifUnknown = ifUnknown;
    }

    /**
     * The epoch is appended, or must be written in transactions: then it is appended nowhere and will not be.
     *
     * @throws SegmentEndedException if the segment has ended, and with it what is known of the stream; nothing is
     *     appended
     */
    public EpochState run(ByteBuffer events) {
        EpochRecord itself = new EpochRecord(epoch, List.of());
        EpochStep.WRITTEN.reached(log.query(), itself);
        EpochState state = segments.areNamed(targets, epoch) ? EpochState.ABSENT : nameInRecord();
        if (state == EpochState.ABSENT) {
            state = segments.append(epoch, events);
        }
        if (state == EpochState.APPENDED) {
            EpochStep.APPENDED.reached(log.query(), itself);
        } else {
            LOG.info("Epoch {} of query {} was begun in transactions by another attempt", epoch, log.query());
        }
        return state;
    }

    /** Makes the record name the targets, unless an earlier attempt has written the epoch, or begun to, elsewhere. */
    private EpochState nameInRecord() {
        EpochRecord earlier;
        do {
            earlier = log.read().orElse(EpochRecord.NONE);
            earlier.requireNotAfter(epoch);
            if (earlier.epoch() == epoch) {
                return EpochState.FENCED;
            }
            if (targets.equals(earlier.appendedTo())) {
                segments.requireNotBehind(targets, epoch);
                segments.found(targets);
                return EpochState.ABSENT;
            }
            if (segments.fence(earlier.appendedTo(), epoch, ifUnknown) == EpochState.APPENDED) {
                return EpochState.APPENDED;
            }
            // Spark has logged the epoch before: so a driver that is still at it finds here that it is done.
        } while (!log.replace(new EpochRecord(epoch - 1, true, List.of(), targets)));
        segments.named(targets, epoch);
        return EpochState.ABSENT;
    }
}
