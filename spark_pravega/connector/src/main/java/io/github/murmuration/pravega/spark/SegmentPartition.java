package io.github.murmuration.pravega.spark;

import org.apache.spark.sql.connector.read.InputPartition;

/** One slice of a segment, read by one task. */
record SegmentPartition(SegmentSlice slice) implements InputPartition {
}
