package io.github.murmuration.pravega.spark;

import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;
import org.apache.spark.sql.types.StructType;

/** Appends rows to one or more streams. */
record PravegaWrite(PravegaOptions options, String queryId, StructType schema) implements Write {
    private static final long BATCH_TIMEOUT_MS = 120_000;
    private static final long STREAMING_TIMEOUT_MS = 30_000;

    @Override
    public String description() {
        return "pravega " + options.scope() + options.targetStream().map(stream -> "/" + stream).orElse("");
    }

    @Override
    public BatchWrite toBatch() {
        return options.exactlyOnce()
                ? new TransactionalBatchWrite(new TransactionalWrites(options, columns(), BATCH_TIMEOUT_MS))
                : new AtLeastOnceWrite(options, columns(), false);
    }

    @Override
    public StreamingWrite toStreaming() {
        boolean realTime = RealTimeQuery.is(queryId);
        if (!options.exactlyOnce()) {
            return new AtLeastOnceWrite(options, columns(), realTime);
        }
        if (realTime) {
            throw RealTimeQuery.notExactlyOnce();
        }
        return new EpochWrite(new TransactionalWrites(options, columns(), STREAMING_TIMEOUT_MS), queryId);
    }

    private EventColumns columns() {
        return new EventColumns(schema, options.targetStream());
    }
}
