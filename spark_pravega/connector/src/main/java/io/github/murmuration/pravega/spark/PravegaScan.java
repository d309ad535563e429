package io.github.murmuration.pravega.spark;

import java.util.Set;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;

/** A read of one stream: once, or by micro-batches. */
record PravegaScan(PravegaOptions options, Set<String> given, StructType columns) implements Scan {
    @Override
    public StructType readSchema() {
        return columns;
    }

    @Override
    public String description() {
        return "pravega " + options.stream().getScopedName() + " " + columns.catalogString();
    }

    @Override
    public Batch toBatch() {
        OptionUse.BATCH_READ.tellOthers(given);
        return new PravegaBatch(options, columns);
    }

    @Override
    public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
        OptionUse.STREAMING_READ.tellOthers(given);
        return new PravegaMicroBatchStream(options, columns, new InitialOffset(checkpointLocation));
    }
}
