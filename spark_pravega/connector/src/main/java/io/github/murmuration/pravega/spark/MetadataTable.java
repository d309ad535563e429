// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark;

import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.client.PravegaConnection;
import io.github.murmuration.pravega.spark.client.Waiting;
import io.pravega.client.admin.StreamInfo;
import io.pravega.client.stream.Stream;
import io.pravega.shared.NameUtils;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.LocalScan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.apache.spark.unsafe.types.UTF8String;

/** What Pravega tells about a scope or a stream, as a table for batch queries. */
record MetadataTable(Kind kind, PravegaOptions options) implements SupportsRead {
    enum Kind {
        /** The streams of a scope, without those that Pravega keeps for itself. */
        STREAMS("Streams", "scope_name", "stream_name"),
        /** Head and tail of a stream, in the text form that start_stream_cut and end_stream_cut take. */
        STREAM_INFO("StreamInfo", "head_stream_cut", "tail_stream_cut");

        private final String option;
        private final StructType schema;

        Kind(String option, String first, String second) {
            this.option = option;
            schema = new StructType().add(first, DataTypes.StringType).add(second, DataTypes.StringType);
        }

        static Kind of(String option) {
            return Arrays.stream(values()).filter(kind -> kind.option.equalsIgnoreCase(option)).findAny()
                    .orElseThrow(() -> new IllegalArgumentException(
                            "option metadata is neither Streams nor StreamInfo: " + option));
        }
    }

    @Override
    public String name() {
        return "pravega " + kind.option;
    }

    @Override
    public StructType schema() {
        return kind.schema;
    }

    @Override
    public Set<TableCapability> capabilities() {
        return Set.of(TableCapability.BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap scanOptions) {
        return Rows::new;
    }

    private final class Rows implements LocalScan {
        @Override
        public StructType readSchema() {
            return kind.schema;
        }

        @Override
        public InternalRow[] rows() {
            try (Connections.Lease lease = Connections.lease(options)) {
                return kind == Kind.STREAMS ? streams(lease.connection()) : streamInfo(lease.connection());
            }
        }
    }

    private InternalRow[] streams(PravegaConnection connection) {
        List<InternalRow> rows = new ArrayList<>();
        connection.streams().listStreams(options.scope()).forEachRemaining(stream -> {
            if (!stream.getStreamName().startsWith(NameUtils.INTERNAL_NAME_PREFIX)) {
                rows.add(row(stream.getScope(), stream.getStreamName()));
            }
        });
        return rows.toArray(InternalRow[]::new);
    }

    private InternalRow[] streamInfo(PravegaConnection connection) {
        Stream stream = options.stream();
        StreamInfo info = Waiting.on(connection.streams().fetchStreamInfo(stream.getScope(), stream.getStreamName()));
        return new InternalRow[] {row(info.getHeadStreamCut().asText(), info.getTailStreamCut().asText())};
    }

    private static InternalRow row(String first, String second) {
        return new GenericInternalRow(new Object[] {UTF8String.fromString(first), UTF8String.fromString(second)});
    }
}
