package io.github.murmuration.pravega.spark;

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
final class PravegaTable implements SupportsRead, SupportsWrite {
    static final StructType SCHEMA = new StructType()
            .add("event", DataTypes.BinaryType)
            .add("scope", DataTypes.StringType)
            .add("stream", DataTypes.StringType)
            .add("segment_id", DataTypes.LongType)
            .add("offset", DataTypes.LongType);

    private final PravegaOptions options;

    PravegaTable(PravegaOptions options) {
        this.options = options;
    }

    @Override
    public String name() {
        return "pravega " + options.scope() + options.targetStream().map(stream -> "/" + stream).orElse("");
    }

    @Override
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
        return new PravegaScanBuilder(new PravegaOptions(scanOptions));
    }

    @Override
    public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
        return new Appending(new PravegaWrite(new PravegaOptions(info.options()), info.queryId(), info.schema(), false));
    }

    /**
     * Appends whatever the output mode: in update mode a stream gets every new state of a row as an event of its own,
     * in complete mode every epoch's whole result, as from Spark's sink for Kafka.
     */
    private record Appending(PravegaWrite write) implements SupportsStreamingUpdateAsAppend, SupportsTruncate {
        @Override
        public PravegaWrite build() {
            return write;
        }

        @Override
        public WriteBuilder truncate() {
            return new Appending(write.forAll());
        }
    }
}
