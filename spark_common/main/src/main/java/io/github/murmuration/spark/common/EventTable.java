// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common;

import io.github.murmuration.spark.common.read.EventScanBuilder;
import io.github.murmuration.spark.common.read.EventSource;
import io.github.murmuration.spark.common.write.EventSink;
import io.github.murmuration.spark.common.write.EventWrite;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.SupportsTruncate;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A stream as a table of events; written by appending. */
public abstract class EventTable implements SupportsRead, SupportsWrite {
    public static final StructType SCHEMA = new StructType()
            .add("event", DataTypes.BinaryType)
            .add("key", DataTypes.StringType)
            .add("stream", DataTypes.StringType)
            .add("partition", DataTypes.IntegerType)
            .add("offset", DataTypes.LongType)
            .add("timestamp", DataTypes.TimestampType);

    /** @param options those of one read, which win over the table's */
    protected abstract EventSource<?> source(CaseInsensitiveStringMap options);

    /** @param info with the options of one write, which win over the table's */
    protected abstract EventSink sink(LogicalWriteInfo info);

    @Override
    @SuppressWarnings("deprecation") // columns() is derived from it
    public StructType schema() {
        return SCHEMA;
    }

    @Override
    public Set<TableCapability> capabilities() {
        return Set.of(
                TableCapability.BATCH_READ,
                TableCapability.MICRO_BATCH_READ,
                TableCapability.BATCH_WRITE,
                TableCapability.STREAMING_WRITE,
                TableCapability.TRUNCATE,
                TableCapability.ACCEPT_ANY_SCHEMA);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap scanOptions) {
        return new EventScanBuilder(source(scanOptions), SCHEMA);
    }

    @Override
    public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
        return new Appending(new EventWrite(sink(info), false));
    }

    /**
     * Appends whatever the output mode: in update mode a stream gets every new state of a row as an event of its own,
     * in complete mode every epoch's whole result, as from Spark's sink for Kafka.
     */
    private record Appending(EventWrite write) implements SupportsStreamingUpdateAsAppend, SupportsTruncate {
        @Override
        public EventWrite build() {
            return write;
        }

        @Override
        public WriteBuilder truncate() {
            return new Appending(write.forAll());
        }
    }
}
