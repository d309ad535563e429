// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.segment;

import io.github.murmuration.pravega.spark.client.PravegaConnection;
import io.pravega.client.batch.SegmentIterator;
import io.pravega.client.batch.impl.SegmentIteratorImpl;
import io.pravega.client.stream.Serializer;
import java.util.NoSuchElementException;

/**
 * The events of a slice, also where less than an event's header of it is left to be asked for.
 *
 * <p>The server answers each request with at least a header's bytes. If fewer are left of the slice, and more follow
 * behind it, the client is given bytes beyond the end that it was told, and fails: from the event at which it does,
 * it is told none.
 */
final class SliceEvents<T> implements SegmentIterator<T> {
    /** Opens what is read of a segment between two offsets. */
    interface Opening<T> {
        SegmentIterator<T> between(long start, long end);
    }

    private final Opening<T> opening;
    private final long end;
    private SegmentIterator<T> events;
    private boolean endless;

    SliceEvents(SegmentSlice slice, Opening<T> opening) {
        this.opening = opening;
        end = slice.end();
        events = opening.between(slice.start(), end);
    }

    /** Both ends of the slice must be event boundaries. */
    static <T> SegmentIterator<T> of(PravegaConnection connection, SegmentSlice slice, Serializer<T> deserializer) {
        return new SliceEvents<>(slice, (start, end) ->
                new SegmentIteratorImpl<>(connection.inputs(), slice.segment(), deserializer, start, end));
    }

    @Override
    public boolean hasNext() {
        return events.getOffset() < end;
    }

    @Override
    public T next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        try {
            return events.next();
        } catch (IllegalStateException beyondTheEnd) {
            if (endless) {
                throw beyondTheEnd;
            }
            endless = true;
            long offset = events.getOffset();
            events.close();
            events = opening.between(offset, Long.MAX_VALUE);
            return events.next();
        }
    }

    @Override
    public long getOffset() {
        return events.getOffset();
    }

    @Override
    public void close() {
        events.close();
    }
}
