// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import io.github.murmuration.nats.spark.NatsException;
import io.github.murmuration.nats.spark.client.NatsConnection;
import io.github.murmuration.nats.spark.client.UnansweredException;
import io.github.murmuration.spark.common.client.Patience;
import io.nats.client.JetStreamApiException;
import io.nats.client.KeyValue;
import io.nats.client.KeyValueManagement;
import io.nats.client.KeyValueOptions;
import io.nats.client.api.KeyValueConfiguration;
import io.nats.client.api.KeyValueEntry;
import io.nats.client.api.StorageType;
import java.io.IOException;

/**
 * The record of a query's newest epoch, in the key-value bucket {@code NAMESPACE_spark}. It is replaced on condition
 * that it is the one that this driver knows: of two drivers one fails.
 */
final class EpochLog {
    private static final int UNAVAILABLE = 503;
    private static final int NO_STREAM = 10059;
    private static final int NAME_IN_USE = 10058;
    private static final int WRONG_LAST_SEQUENCE = 10071;

    private final NatsConnection connection;
    private final String bucket;
    private final String query;
    private EpochRecord record;
    private long revision;
    /** Whether the record that is being written may be there already. */
    private boolean tried;

    /** Reads the newest record; makes the bucket if there is none. */
    EpochLog(NatsConnection connection, String namespace, String query) {
        this.connection = connection;
        bucket = namespace + "_spark";
        this.query = query;
        Patience.until(UnansweredException.class, () -> {
            read();
            return null;
        });
    }

    /** Null if the query has none. */
    EpochRecord record() {
        return record;
    }

    /** @throws NatsException if another driver has written since */
    void replace(EpochRecord next) {
        Patience.until(UnansweredException.class, () -> {
            if (!isWritten(next)) {
                write(next);
            }
            return null;
        });
    }

    /** Whether an earlier try, of which no answer came, has written it. */
    private boolean isWritten(EpochRecord next) {
        if (!tried) {
            tried = true;
            return false;
        }
        long before = revision;
        EpochRecord known = record;
        read();
        if (revision != before && next.equals(record)) {
            tried = false;
            return true;
        }
        if (revision != before) {
            throw fenced();
        }
        record = known;
        return false;
    }

    private void write(EpochRecord next) {
        try {
            KeyValue records = connection.client().keyValue(bucket, options());
            revision = revision == 0
                    ? records.create(query, next.json()) : records.update(query, next.json(), revision);
            record = next;
            tried = false;
        } catch (JetStreamApiException failed) {
            if (failed.getApiErrorCode() == WRONG_LAST_SEQUENCE) {
                throw fenced();
            }
            throw refused(failed);
        } catch (IOException failed) {
            throw connection.unanswered("the record of query " + query, failed);
        }
    }

    private void read() {
        try {
            ensureBucket();
            KeyValueEntry entry = connection.client().keyValue(bucket, options()).get(query);
            revision = entry == null ? 0 : entry.getRevision();
            record = entry == null ? null : EpochRecord.of(entry.getValue());
        } catch (JetStreamApiException failed) {
            throw refused(failed);
        } catch (IOException failed) {
            throw connection.unanswered("the record of query " + query, failed);
        }
    }

    private void ensureBucket() throws IOException, JetStreamApiException {
        KeyValueManagement buckets = connection.client().keyValueManagement(options());
        try {
            buckets.getStatus(bucket);
            return;
        } catch (JetStreamApiException failed) {
            if (failed.getApiErrorCode() != NO_STREAM) {
                throw failed;
            }
        }
        try {
            buckets.create(KeyValueConfiguration.builder().name(bucket).storageType(StorageType.File)
                    .description("newest epochs of Spark's exactly-once queries").build());
        } catch (JetStreamApiException failed) {
            if (failed.getApiErrorCode() != NAME_IN_USE) {
                throw failed;
            }
        }
    }

    private KeyValueOptions options() {
        return KeyValueOptions.builder().jetStreamOptions(connection.patient()).build();
    }

    private NatsException refused(JetStreamApiException failed) {
        String what = "the record of query " + query + " in " + bucket;
        return failed.getErrorCode() == UNAVAILABLE
                ? connection.unanswered(what, failed) : new NatsException(what + ": " + failed.getMessage(), failed);
    }

    private NatsException fenced() {
        return new NatsException("another driver runs query " + query + ": it has replaced the query's record in "
                + bucket + ". This one ends");
    }
}
