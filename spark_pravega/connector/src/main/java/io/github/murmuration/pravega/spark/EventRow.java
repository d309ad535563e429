package io.github.murmuration.pravega.spark;

import io.pravega.client.segment.impl.Segment;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** The row that a reader of a segment hands to Spark, of the wanted columns: one for all events, without boxes. */
final class EventRow {
    private final SpecificInternalRow row;
    private final int event;
    private final int offset;

    EventRow(StructType columns, Segment segment) {
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

    InternalRow row() {
        return row;
    }

    boolean hasEvent() {
        return event >= 0;
    }

    boolean hasOffset() {
        return offset >= 0;
    }

    void setEvent(byte[] bytes) {
        row.update(event, bytes);
    }

    void setOffset(long position) {
        row.setLong(offset, position);
    }
}
