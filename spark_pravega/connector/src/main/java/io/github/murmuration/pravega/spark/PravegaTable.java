// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark;

import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.client.Waiting;
import io.github.murmuration.pravega.spark.read.PravegaScanBuilder;
import io.github.murmuration.pravega.spark.write.PravegaWrite;
import io.pravega.client.admin.StreamInfo;
import io.pravega.client.stream.Stream;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TruncatableTable;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.SupportsTruncate;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A stream as a table of events; written by appending. Its own options hold where a read or write gives no others. */
public final class PravegaTable implements SupportsRead, SupportsWrite, TruncatableTable {
    public static final StructType SCHEMA = new StructType()
            .add("event", DataTypes.BinaryType)
            .add("scope", DataTypes.StringType)
            .add("stream", DataTypes.StringType)
            .add("segment_id", DataTypes.LongType)
            .add("offset", DataTypes.LongType);

    private final PravegaOptions options;
    private final Map<String, String> properties;

    /** @param properties what a catalog knows of the stream */
    PravegaTable(PravegaOptions options, Map<String, String> properties) {
        this.options = options;
        this.properties = properties;
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
    public Map<String, String> properties() {
        return properties;
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
        return new PravegaScanBuilder(options.with(scanOptions), scanOptions.keySet());
    }

    @Override
    public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
        PravegaOptions merged = options.with(info.options());
        return new Appending(new PravegaWrite(
                merged, info.options().keySet(), info.queryId(), info.schema(), false));
    }

    /**
     * Removes the events that can be read now. Those of open transactions come when these are committed.
     *
     * @throws UnsupportedOperationException if the stream is sealed
     */
    @Override
    public boolean truncateTable() {
        Stream stream = options.stream();
        try (Connections.Lease lease = Connections.lease(options)) {
            StreamInfo info = Waiting.on(
                    lease.connection().streams().fetchStreamInfo(stream.getScope(), stream.getStreamName()));
            if (info.isSealed()) {
                throw new UnsupportedOperationException("Pravega truncates no sealed stream: drop "
                        + stream.getScopedName() + " instead, in a catalog by DROP TABLE ... PURGE");
            }
            return lease.connection().streams().truncateStream(
                    stream.getScope(), stream.getStreamName(), info.getTailStreamCut());
        }
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
