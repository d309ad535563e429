// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read;

import io.github.murmuration.pravega.spark.OptionUse;
import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.read.plan.PravegaOffset;
import io.github.murmuration.pravega.spark.read.segment.BytesRead;
import io.github.murmuration.spark.common.read.InitialOffset;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.Statistics;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;

/** A read of one stream: once, or by micro-batches. */
final class PravegaScan implements SupportsReportStatistics {
    private final PravegaOptions options;
    private final Set<String> given;
    private final StructType columns;
    private boolean isStreaming;

    /** @param given the names of the options of this read, without those of its table */
    PravegaScan(PravegaOptions options, Set<String> given, StructType columns) {
        this.options = options;
        this.given = given;
        this.columns = columns;
    }

    @Override
    public StructType readSchema() {
        return columns;
    }

    @Override
    public String description() {
        return "pravega " + options.stream().getScopedName() + " " + columns.catalogString();
    }

    @Override
    public CustomMetric[] supportedCustomMetrics() {
        return new CustomMetric[] {new BytesRead()};
    }

    /** What a batch reads, headers included; how much a micro-batch will read is not known when it is planned. */
    @Override
    public Statistics estimateStatistics() {
        OptionalLong bytes =
                isStreaming ? OptionalLong.empty() : OptionalLong.of(new PravegaBatch(options, columns).bytes());
        return new Size(bytes);
    }

    @Override
    public Batch toBatch() {
        OptionUse.BATCH_READ.tellOthers(given);
        return new PravegaBatch(options, columns);
    }

    @Override
    public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
        OptionUse.STREAMING_READ.tellOthers(given);
        isStreaming = true;
        return new PravegaMicroBatchStream(
                options, columns, new InitialOffset<>(checkpointLocation, PravegaOffset::fromJson));
    }

    private record Size(OptionalLong sizeInBytes) implements Statistics {
        @Override
        public OptionalLong numRows() {
            return OptionalLong.empty();
        }
    }
}
