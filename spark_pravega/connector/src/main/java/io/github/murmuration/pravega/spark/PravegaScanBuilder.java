package io.github.murmuration.pravega.spark;

import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.types.StructType;

/** Builds a scan of the columns that a query wants. */
final class PravegaScanBuilder implements SupportsPushDownRequiredColumns {
    private final PravegaOptions options;
    private StructType columns = PravegaTable.SCHEMA;

    PravegaScanBuilder(PravegaOptions options) {
        this.options = options;
    }

    @Override
    public void pruneColumns(StructType required) {
        columns = required;
    }

    @Override
    public Scan build() {
        return new PravegaScan(options, columns);
    }
}
