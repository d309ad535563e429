// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.cluster;

import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A source of Spark's whose epochs are those of {@link PlannedEpoch#all}, however often one is repeated. Options:
 * {@code seed}, {@code rows}.
 */
public final class PlannedSource implements TableProvider {
    private static final StructType SCHEMA =
            new StructType().add("event", DataTypes.StringType).add("routing_key", DataTypes.StringType);

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return SCHEMA;
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return new PlannedTable();
    }

    private static final class PlannedTable implements SupportsRead, ScanBuilder, Scan {
        private List<PlannedEpoch> epochs;

        @Override
        public String name() {
            return "planned epochs";
        }

        @Override
        public StructType schema() {
            return SCHEMA;
        }

        @Override
        public Set<TableCapability> capabilities() {
            return Set.of(TableCapability.MICRO_BATCH_READ);
        }

        @Override
        public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
            epochs = PlannedEpoch.all(options.getLong("seed", 0), options.getLong("rows", 0));
            return this;
        }

        @Override
        public Scan build() {
            return this;
        }

        @Override
        public StructType readSchema() {
            return SCHEMA;
        }

        @Override
        public MicroBatchStream toMicroBatchStream(String checkpoint) {
            return new PlannedStream(epochs);
        }
    }

    /** How many rows there were before. */
    private static final class RowsBefore extends Offset {
        private final long rows;

        RowsBefore(long rows) {
            this.rows = rows;
        }

        static long of(Offset offset) {
            return Long.parseLong(offset.json());
        }

        @Override
        public String json() {
            return Long.toString(rows);
        }
    }

    private record PlannedStream(List<PlannedEpoch> epochs) implements MicroBatchStream, SupportsAdmissionControl {
        @Override
        public Offset initialOffset() {
            return new RowsBefore(0);
        }

        @Override
        public Offset latestOffset() {
            throw new UnsupportedOperationException("Spark asks for the end of the next epoch");
        }

        @Override
        public Offset latestOffset(Offset start, ReadLimit limit) {
            long from = RowsBefore.of(start);
            return epochs.get(epochs.size() - 1).until() == from ? start : new RowsBefore(epoch(from).until());
        }

        @Override
        public InputPartition[] planInputPartitions(Offset start, Offset end) {
            return epoch(RowsBefore.of(start)).partitions();
        }

        @Override
        public PartitionReaderFactory createReaderFactory() {
            return partition -> new Reader((PlannedEpoch.Rows) partition);
        }

        @Override
        public Offset deserializeOffset(String json) {
            return new RowsBefore(Long.parseLong(json));
        }

        @Override
        public void commit(Offset end) {
        }

        @Override
        public void stop() {
        }

        @Override
        public String toString() {
            return epochs.size() + " planned epochs";
        }

        private PlannedEpoch epoch(long from) {
            return epochs.stream().filter(each -> each.from() == from).findFirst()
                    .orElseThrow(() -> new NoSuchElementException("no epoch begins with row " + from));
        }
    }

    private static final class Reader implements PartitionReader<InternalRow> {
        private final PlannedEpoch.Rows rows;
        private long row;

        Reader(PlannedEpoch.Rows rows) {
            this.rows = rows;
            row = rows.epoch().from() - 1;
        }

        @Override
        public boolean next() {
            row = rows.after(row);
            return row < rows.epoch().until();
        }

        @Override
        public InternalRow get() {
            return new GenericInternalRow(new Object[] {rows.event(row), rows.routingKey(row)});
        }

        @Override
        public void close() {
        }
    }
}
