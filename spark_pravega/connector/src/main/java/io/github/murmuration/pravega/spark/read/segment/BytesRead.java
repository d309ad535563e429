// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.segment;

import org.apache.spark.sql.connector.metric.CustomSumMetric;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;

/** The metric {@code bytesRead} of a scan, with eight bytes per event; Spark's UI makes it anew by its name. */
public final class BytesRead extends CustomSumMetric {
    private static final String NAME = "bytesRead";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "bytes read from Pravega";
    }

    /** Of one task. */
    public record OfTask(long value) implements CustomTaskMetric {
        @Override
        public String name() {
            return NAME;
        }
    }
}
