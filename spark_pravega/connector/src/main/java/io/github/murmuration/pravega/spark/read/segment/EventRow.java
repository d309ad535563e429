// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.segment;

import io.pravega.client.segment.impl.Segment;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** The row that a reader of a segment hands to Spark, of the wanted columns: one for all events, without boxes. */
public final class EventRow {
    private final SpecificInternalRow row;
    private final int event;
    private final int offset;

    public EventRow(StructType columns, Segment segment) {
        String[] names = columns.fieldNames();
        event = Arrays.asList(names).indexOf("event");
        offset = Arrays.asList(names).indexOf("offset");
        row = new SpecificInternalRow(columns);
        for (int column = 0; column < names.length; column++) {
            switch (names[column]) {
                case "scope" -> row.update(column, UTF8String.fromString(segment.getScope()));
                case "stream" -> row.update(column, UTF8String.fromString(segment.getStreamName()));
                case "segment_id" -> row.setLong(column, segment.getSegmentId());
                default -> { }
            }
        }
    }

    public InternalRow row() {
        return row;
    }

    public boolean hasEvent() {
        return event >= 0;
    }

    public boolean hasOffset() {
        return offset >= 0;
    }

    public void setEvent(byte[] bytes) {
        row.update(event, bytes);
    }

    public void setOffset(long position) {
        row.setLong(offset, position);
    }
}
