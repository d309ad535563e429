package io.github.murmuration.pravega.spark;

import io.pravega.client.segment.impl.Segment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;

/**
 * Commits a small epoch by one append to the only segment of its stream: readable as a whole or not at all.
 *
 * <p>The append's number is the epoch's and its writer is the query, so an epoch that comes again finds that it was
 * done. The record of the query names the segment, for a driver that comes after a crash when the stream has scaled.
 */
final class EpochAppend {
    private final PravegaConnection connection;
    private final EpochLog log;
    private final UUID query;
    private final long epoch;
    private final Segment target;
    private boolean done;

    EpochAppend(PravegaConnection connection, EpochLog log, UUID query, long epoch, Segment target) {
        this.connection = connection;
        this.log = log;
        this.query = query;
        this.epoch = epoch;
        this.target = target;
    }

    /** Tries; afterwards {@link #isDone} tells whether the epoch is written, or has to be by transactions. */
    void run(ByteBuffer events) {
        EpochRecord none = new EpochRecord(epoch, List.of());
        EpochStep.WRITTEN.reached(none);
        try {
            NumberedAppends appends = connection.appending().get(query);
            if (appends == null || !appends.segment().equals(target)) {
                if (!nameInRecord()) {
                    return;
                }
                connection.endAppends(query);
                appends = connection.numberedAppends(target, query);
                connection.appending().put(query, appends);
            }
            appends.append(epoch, events);
            done = true;
        } catch (SegmentEndedException ended) {
            connection.forgetSegments(target.getStream());
            return;
        }
        EpochStep.COMMITTED.reached(none);
    }

    boolean isDone() {
        return done;
    }

    /** Makes the record name the target; false if an earlier attempt has written the epoch, or begun to, elsewhere. */
    private boolean nameInRecord() {
        EpochRecord earlier;
        do {
            earlier = log.read().orElse(new EpochRecord(-1, true, List.of(), null));
            earlier.requireNotAfter(epoch);
            if (earlier.epoch() == epoch) {
                return false;
            }
            if (target.equals(earlier.appendedTo())) {
                return true;
            }
            if (connection.appended(earlier, query, epoch)) {
                return false;
            }
        } while (!log.replace(earlier.withAppendsTo(target)));
        return true;
    }
}
