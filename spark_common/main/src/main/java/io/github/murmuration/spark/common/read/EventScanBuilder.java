// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.read;

import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.types.StructType;

/** Builds a scan of the columns that a query wants. */
public final class EventScanBuilder implements SupportsPushDownRequiredColumns {
    private final EventSource<?> source;
    private StructType columns;

    public EventScanBuilder(EventSource<?> source, StructType columns) {
        this.source = source;
        this.columns = columns;
    }

    @Override
    public void pruneColumns(StructType required) {
        columns = required;
    }

    @Override
    public Scan build() {
        return new EventScan(source, columns);
    }
}
