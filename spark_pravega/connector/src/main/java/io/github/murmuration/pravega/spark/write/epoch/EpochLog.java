// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.client.PravegaConnection;
import io.github.murmuration.pravega.spark.client.Waiting;
import io.pravega.client.tables.BadKeyVersionException;
import io.pravega.client.tables.Insert;
import io.pravega.client.tables.KeyValueTable;
import io.pravega.client.tables.Put;
import io.pravega.client.tables.TableEntry;
import io.pravega.client.tables.TableKey;
import io.pravega.client.tables.Version;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The last epoch record of one query, or of what one application wrote to one stream in batches, in a Pravega key-value
 * table of the scope.
 *
 * <p>One record is enough: Spark begins an epoch only after it has logged the one before. Each replaces its predecessor
 * by a conditional update, so of two drivers of the same query only one can record an epoch.
 */
public final class EpochLog {
    public static final String TABLE = "spark-epochs";
    private static final Logger LOG = LoggerFactory.getLogger(EpochLog.class);
    private static final int KEY_BYTES = 16;
    /** Pravega takes no longer value: a MiB, but for 8 KiB. */
    private static final int MAX_BYTES = (1 << 20) - (8 << 10);

    private final UUID query;
    private final KeyValueTable table;
    private final TableKey key;
    private Version version = Version.NOT_EXISTS;

    /** @param query Spark's id of the query, which its checkpoint keeps, or {@link BatchVersion#recordOf} */
    public EpochLog(PravegaConnection connection, String scope, UUID query) {
        this.query = query;
        table = connection.tables().open(scope, TABLE, KEY_BYTES);
        key = new TableKey(ByteBuffer.allocate(KEY_BYTES)
                .putLong(query.getMostSignificantBits()).putLong(query.getLeastSignificantBits()).flip());
    }

    public UUID query() {
        return query;
    }

    public Optional<EpochRecord> read() {
        TableEntry entry = Waiting.on(table.get(key));
        version = entry == null ? Version.NOT_EXISTS : entry.getVersion();
        return Optional.ofNullable(entry).map(found -> EpochRecord.fromBytes(found.getValue()));
    }

    /**
     * Replaces the record that was read or written last; false, if someone else replaced it meanwhile.
     *
     * @throws PravegaException if it is too long
     */
    public boolean replace(EpochRecord record) {
        try {
            version = Waiting.on(update(record));
            return true;
        } catch (PravegaException failed) {
            if (failed.getCause() instanceof BadKeyVersionException) {
                return false;
            }
            throw failed;
        }
    }

    /**
     * The same without waiting. If it comes to nothing, the record stays as it is, or the next epoch's has taken its
     * place.
     */
    CompletableFuture<Version> replaceMeanwhile(EpochRecord record) {
        return update(record).exceptionally(failure -> {
            LOG.debug("The record of epoch {} was not replaced", record.epoch(), failure);
            return null;
        });
    }

    private CompletableFuture<Version> update(EpochRecord record) {
        ByteBuffer bytes = record.toBytes();
        if (bytes.remaining() > MAX_BYTES) {
            throw new PravegaException("an epoch in " + record.transactions().size() + " transactions cannot be "
                    + "recorded: one is needed for each task and stream. Let fewer tasks write, with coalesce, or to "
                    + "fewer streams");
        }
        return table.update(version == Version.NOT_EXISTS ? new Insert(key, bytes) : new Put(key, bytes, version));
    }
}
