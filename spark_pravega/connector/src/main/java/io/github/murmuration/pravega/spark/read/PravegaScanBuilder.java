// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read;

import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.PravegaTable;
import java.util.Set;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.types.StructType;

/** Builds a scan of the columns that a query wants. */
public final class PravegaScanBuilder implements SupportsPushDownRequiredColumns {
    private final PravegaOptions options;
    private final Set<String> given;
    private StructType columns = PravegaTable.SCHEMA;

    /** @param given the names of the options of this read, without those of its table */
    public PravegaScanBuilder(PravegaOptions options, Set<String> given) {
        this.options = options;
        this.given = given;
    }

    @Override
    public void pruneColumns(StructType required) {
        columns = required;
    }

    @Override
    public Scan build() {
        return new PravegaScan(options, given, columns);
    }
}
