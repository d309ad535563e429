// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read;

import io.github.murmuration.pravega.spark.read.segment.SegmentSlice;
import org.apache.spark.sql.connector.read.InputPartition;

/** One slice of a segment, read by one task. */
public record SegmentPartition(SegmentSlice slice) implements InputPartition {
}
