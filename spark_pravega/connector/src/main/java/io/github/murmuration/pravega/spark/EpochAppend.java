package io.github.murmuration.pravega.spark;

import io.pravega.client.segment.impl.Segment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;

/**
 * Commits a small epoch by one append to one segment of its stream: readable as a whole or not at all.
 *
 * <p>The append's number is the epoch's and its writer is the query, so an epoch that comes again finds that it was
 * done. The record of the query names the segments, for a driver that comes after a crash when the stream has scaled.
 */
final class EpochAppend {
    private final PravegaConnection connection;
    private final EpochLog log;
    private final UUID query;
    private final long epoch;
    private final List<Segment> targets;
    private boolean done;

    EpochAppend(PravegaConnection connection, EpochLog log, UUID query, long epoch, List<Segment> targets) {
        this.connection = connection;
        this.log = log;
        this.query = query;
        this.epoch = epoch;
        this.targets = targets;
    }

    /** Tries; afterwards {@link #isDone} tells whether the epoch is written, or has to be by transactions. */
    void run(ByteBuffer events) {
        EpochRecord none = new EpochRecord(epoch, List.of());
        EpochStep.WRITTEN.reached(none);
        try {
            EpochSegments segments = connection.appending().get(query);
            if (segments == null || !segments.are(targets)) {
                if (!nameInRecord()) {
                    return;
                }
                connection.endAppends(query);
                segments = new EpochSegments(targets, each -> connection.numberedAppends(each, query));
                connection.appending().put(query, segments);
            }
            segments.append(epoch, events);
            done = true;
        } catch (SegmentEndedException ended) {
            connection.forgetSegments(targets.get(0).getStream());
            return;
        }
        EpochStep.COMMITTED.reached(none);
    }

    boolean isDone() {
        return done;
    }

    /** Makes the record name the targets; false if an earlier attempt has written the epoch, or begun to, elsewhere. */
    private boolean nameInRecord() {
        EpochRecord earlier;
        do {
            earlier = log.read().orElse(new EpochRecord(-1, true, List.of(), List.of()));
            earlier.requireNotAfter(epoch);
            if (earlier.epoch() == epoch) {
                return false;
            }
            if (targets.equals(earlier.appendedTo())) {
                return true;
            }
            if (connection.appended(earlier, query, epoch)) {
                return false;
            }
        } while (!log.replace(earlier.withAppendsTo(targets)));
        return true;
    }
}
