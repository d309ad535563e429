// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read;

import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.read.plan.StreamBound;
import io.github.murmuration.pravega.spark.read.plan.StreamReads;
import io.github.murmuration.pravega.spark.read.segment.SegmentSlice;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.StreamCut;
import java.util.List;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;

/** All events between two cuts; symbolic bounds are resolved once, when the partitions are planned. */
final class PravegaBatch implements Batch {
    private final PravegaOptions options;
    private final StructType columns;
    private List<SegmentSlice> slices;

    PravegaBatch(PravegaOptions options, StructType columns) {
        this.options = options;
        this.columns = columns;
    }

    @Override
    public InputPartition[] planInputPartitions() {
        return slices().stream().map(SegmentPartition::new).toArray(InputPartition[]::new);
    }

    long bytes() {
        return slices().stream().mapToLong(SegmentSlice::bytes).sum();
    }

    private synchronized List<SegmentSlice> slices() {
        if (slices == null) {
            Stream stream = options.stream();
            StreamBound start = options.start(StreamBound.EARLIEST);
            StreamBound end = options.end(StreamBound.LATEST);
            try (Connections.Lease lease = Connections.lease(options)) {
                lease.connection().targets().ensureExists(stream, options);
                StreamReads reads = new StreamReads(lease.connection(), stream, options.failOnDataLoss());
                StreamCut from = reads.resolveStart(start);
                StreamCut to = reads.resolveEnd(end);
                reads.requireInOrder(start, from, end);
                slices = reads.slices(from, to);
            }
        }
        return slices;
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return new SegmentReaderFactory(options, columns);
    }
}
