// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.read;

import io.github.murmuration.pulsar.spark.PulsarException;
import io.github.murmuration.pulsar.spark.PulsarOptions;
import io.github.murmuration.pulsar.spark.client.Connection;
import io.github.murmuration.pulsar.spark.client.Connections;
import io.github.murmuration.pulsar.spark.client.Ledgers;
import io.github.murmuration.pulsar.spark.client.Place;
import io.github.murmuration.spark.common.client.Leases;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.Message;
import org.apache.pulsar.client.api.MessageIdAdv;
import org.apache.pulsar.client.api.PulsarClientException;
import org.apache.pulsar.client.api.Reader;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.types.StructType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads a slice from its first to its last event, none of which may be missing. */
final class SliceReader implements PartitionReader<InternalRow> {
    private static final Logger LOG = LoggerFactory.getLogger(SliceReader.class);
    private static final int SILENCE_SECONDS = 2;
    private static final long AGAIN_MS = 200;
    /** After so long a reader is opened again, for one that has lost its connection unnoticed. */
    private static final long REOPEN_NANOS = TimeUnit.SECONDS.toNanos(15);
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);
    /** The client may leave out events when it connects anew: so often it is opened again before they count as gone. */
    private static final int ATTEMPTS = 2;

    private final PartitionSlice slice;
    private final DataLoss dataLoss;
    private final MessageRow row;
    private final Leases.Lease<Connection> lease;
    private Reader<byte[]> reader;
    /** Where the next event stands; of the start it is not known whether anything is left of its entry. */
    private Place wanted;
    private boolean begun;
    private boolean done;
    private int attempts;
    private long silentSince;
    private long openedAt;

    SliceReader(PulsarOptions options, StructType columns, PartitionSlice slice) {
        this.slice = slice;
        dataLoss = new DataLoss(options.failOnDataLoss());
        row = new MessageRow(columns, slice);
        wanted = slice.start().nth() > 0 ? slice.start() : slice.ledgers().entryFrom(slice.start());
        lease = Connections.lease(options);
    }

    @Override
    public boolean next() {
        silentSince = System.nanoTime();
        while (!done) {
            Message<byte[]> message = fetch();
            if (message == null) {
                afterSilence();
                continue;
            }
            MessageIdAdv id = (MessageIdAdv) message.getMessageId();
            Place found = new Place(id.getLedgerId(), id.getEntryId(), Math.max(0, id.getBatchIndex()));
            if (found.isBefore(wanted)) {
                continue; // it came with its entry, or comes again after a new connection
            }
            if (!follows(found)) {
                if (!isGone() && attempts++ < ATTEMPTS) {
                    LOG.info("{}: wanted {}, found {}; it is read again", slice.topic(), wanted, found);
                    closeReader();
                    continue;
                }
                missed(found);
            }
            if (!found.isBefore(slice.end())) {
                done = true;
                return false;
            }
            take(message, found, Math.max(1, id.getBatchSize()));
            return true;
        }
        return false;
    }

    private void take(Message<byte[]> message, Place found, int events) {
        if (events > Place.MOST_INDEXED) {
            throw new PulsarException("an entry of " + slice.topic() + " has " + events + " events, more than "
                    + Place.MOST_INDEXED);
        }
        attempts = 0;
        begun = true;
        if (found.nth() + 1 < events) {
            wanted = new Place(found.ledger(), found.entry(), found.nth() + 1);
            done = !wanted.isBefore(slice.end());
        } else {
            wanted = slice.ledgers().entryFrom(found.nextEntry());
            done = isBehindAll(wanted);
        }
        row.set(message, slice.origin().offset(found));
    }

    private boolean isBehindAll(Place place) {
        return slice.ledgers().entriesBetween(place, slice.end()) == 0;
    }

    private boolean follows(Place found) {
        return found.equals(wanted)
                || !begun && wanted.nth() > 0 && found.equals(slice.ledgers().entryFrom(wanted.nextEntry()));
    }

    /** What lies before {@code found} is no more. */
    private void missed(Place found) {
        Place next = found.isBefore(slice.end()) ? found : slice.end();
        long entries = Math.max(1, slice.ledgers().entriesBetween(wanted, next));
        dataLoss.gone(slice.topic(), slice.origin().offset(wanted), slice.origin().offset(next), entries, true);
        wanted = next;
        begun = true;
        attempts = 0;
    }

    /** Nothing comes: what was to be read may be gone, with nothing behind it. */
    private void afterSilence() {
        Ledgers left = left();
        if (left != null && wanted.isBefore(left.first())) {
            missed(left.first());
            done = isBehindAll(wanted);
        } else if (System.nanoTime() - silentSince > LIMIT_NANOS) {
            throw new PulsarException("Pulsar did not hand out offset " + slice.origin().offset(wanted) + " of "
                    + slice.topic() + " within a minute");
        } else if (reader != null && System.nanoTime() - Math.max(openedAt, silentSince) > REOPEN_NANOS) {
            closeReader();
        }
    }

    private boolean isGone() {
        Ledgers left = left();
        return left != null && wanted.isBefore(left.first());
    }

    private Ledgers left() {
        return lease.connection().streams().ledgers(slice.stream(), slice.partition()).orElseGet(() -> {
            dataLoss.missing(slice.topic(), slice.origin().offset(wanted));
            done = true;
            return null;
        });
    }

    /** Null if nothing comes for a while. */
    private Message<byte[]> fetch() {
        try {
            if (reader == null) {
                reader = lease.connection().reader(slice.topic(), wanted);
                openedAt = System.nanoTime();
            }
            return reader.readNext(SILENCE_SECONDS, TimeUnit.SECONDS);
        } catch (PulsarClientException failed) {
            if (failed.getCause() instanceof InterruptedException) {
                throw interrupted(failed);
            }
            LOG.info("{}: {}; opening it again", slice.topic(), failed.toString());
            closeReader();
            pause();
            return null;
        } catch (PulsarException failed) {
            LOG.info("{}: {}; opening it again", slice.topic(), failed.toString());
            pause();
            return null;
        }
    }

    private void pause() {
        try {
            Thread.sleep(AGAIN_MS);
        } catch (InterruptedException interrupted) {
            throw interrupted(interrupted);
        }
    }

    private PulsarException interrupted(Exception cause) {
        Thread.currentThread().interrupt();
        return new PulsarException("interrupted while " + slice.topic() + " was read", cause);
    }

    @Override
    public InternalRow get() {
        return row.row();
    }

    private void closeReader() {
        if (reader != null) {
            reader.closeAsync();
            reader = null;
        }
    }

    @Override
    public void close() {
        closeReader();
        lease.close();
    }
}
