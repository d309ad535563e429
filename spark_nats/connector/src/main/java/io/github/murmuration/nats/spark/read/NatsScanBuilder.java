// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.read;

import io.github.murmuration.nats.spark.NatsOptions;
import io.github.murmuration.nats.spark.NatsTable;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.types.StructType;

/** Builds a scan of the columns that a query wants. */
public final class NatsScanBuilder implements SupportsPushDownRequiredColumns {
    private final NatsOptions options;
    private StructType columns = NatsTable.SCHEMA;

    public NatsScanBuilder(NatsOptions options) {
        this.options = options;
    }

    @Override
    public void pruneColumns(StructType required) {
        columns = required;
    }

    @Override
    public Scan build() {
        return new NatsScan(options, columns);
    }
}
