// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write;

import io.github.murmuration.pravega.spark.OptionUse;
import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.write.epoch.BatchVersion;
import io.github.murmuration.pravega.spark.write.epoch.EpochWrite;
import io.github.murmuration.pravega.spark.write.epoch.VersionedBatchWrite;
import io.github.murmuration.pravega.spark.write.transaction.TransactionalBatchWrite;
import io.github.murmuration.pravega.spark.write.transaction.TransactionalWrites;
import io.github.murmuration.spark.common.write.AtLeastOnceWrite;
import io.github.murmuration.spark.common.write.EventColumns;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;
import org.apache.spark.sql.types.StructType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Appends rows to one or more streams.
 *
 * @param given names of the options of this write, without those of its table
 * @param inPlaceOfAll whether Spark wants the rows in place of all that there is: of a batch it is refused, of a query
 *     in output mode complete they are appended
 */
public record PravegaWrite(
        PravegaOptions options, Set<String> given, String queryId, StructType schema, boolean inPlaceOfAll)
        implements Write {
    /** Column with the keys of events. */
    public static final String ROUTING_KEY = "routing_key";

    private static final long BATCH_TIMEOUT_MS = 120_000;
    private static final long STREAMING_TIMEOUT_MS = 30_000;
    private static final Set<String> COMPLETE_QUERIES = ConcurrentHashMap.newKeySet();
    private static final Logger LOG = LoggerFactory.getLogger(PravegaWrite.class);

    public PravegaWrite forAll() {
        return new PravegaWrite(options, given, queryId, schema, true);
    }

    @Override
    public String description() {
        return "pravega " + options.scope() + options.targetStream().map(stream -> "/" + stream).orElse("");
    }

    @Override
    public BatchWrite toBatch() {
        if (inPlaceOfAll) {
            throw new UnsupportedOperationException("a stream is not overwritten, it is appended to: use INSERT INTO "
                    + "or mode append. TRUNCATE TABLE before that removes what there is");
        }
        OptionUse.BATCH_WRITE.tellOthers(given);
        Optional<BatchVersion> version = options.batchVersion();
        if (!options.exactlyOnce()) {
            return atLeastOnce(false);
        }
        TransactionalWrites writes = new TransactionalWrites(options, columns(), BATCH_TIMEOUT_MS);
        return version.<BatchWrite>map(each -> new VersionedBatchWrite(writes, each))
                .orElseGet(() -> new TransactionalBatchWrite(writes));
    }

    @Override
    public StreamingWrite toStreaming() {
        OptionUse.STREAMING_WRITE.tellOthers(given);
        if (inPlaceOfAll && COMPLETE_QUERIES.add(queryId)) {
            LOG.info("Output mode complete: each epoch appends its whole result to {}", description());
        }
        boolean realTime = RealTimeQuery.is(queryId);
        if (!options.exactlyOnce()) {
            return atLeastOnce(realTime);
        }
        if (realTime) {
            throw RealTimeQuery.notExactlyOnce();
        }
        return new EpochWrite(new TransactionalWrites(options, columns(), STREAMING_TIMEOUT_MS), queryId);
    }

    private AtLeastOnceWrite atLeastOnce(boolean prompt) {
        EventColumns columns = columns();
        return new AtLeastOnceWrite(() -> AtLeastOnceWriters.toTarget(options, columns, prompt));
    }

    private EventColumns columns() {
        return new EventColumns(schema, ROUTING_KEY, options.targetStream());
    }
}
