// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.read;

import io.github.murmuration.pulsar.spark.PulsarOptions;
import io.github.murmuration.pulsar.spark.PulsarTable;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.types.StructType;

/** Builds a scan of the columns that a query wants. */
public final class PulsarScanBuilder implements SupportsPushDownRequiredColumns {
    private final PulsarOptions options;
    private StructType columns = PulsarTable.SCHEMA;

    public PulsarScanBuilder(PulsarOptions options) {
        this.options = options;
    }

    @Override
    public void pruneColumns(StructType required) {
        columns = required;
    }

    @Override
    public Scan build() {
        return new PulsarScan(options, columns);
    }
}
