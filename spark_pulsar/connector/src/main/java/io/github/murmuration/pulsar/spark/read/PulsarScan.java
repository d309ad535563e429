// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.read;

import io.github.murmuration.pulsar.spark.PulsarOptions;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;

/** A read of one stream: once, or by micro-batches. */
record PulsarScan(PulsarOptions options, StructType columns) implements Scan {
    @Override
    public StructType readSchema() {
        return columns;
    }

    @Override
    public String description() {
        return "pulsar " + options.stream() + " " + columns.catalogString();
    }

    @Override
    public Batch toBatch() {
        return new PulsarBatch(options, columns);
    }

    @Override
    public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
        return new PulsarMicroBatchStream(options, columns, new InitialOffset(checkpointLocation));
    }
}
