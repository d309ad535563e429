// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.segment;

import io.github.murmuration.pravega.spark.client.PravegaConnection;
import io.pravega.client.batch.SegmentIterator;
import io.pravega.client.stream.Serializer;
import io.pravega.client.stream.TruncatedDataException;
import java.util.NoSuchElementException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The events of a slice, without those at its beginning that truncation has removed, even while it is read. */
public final class RemainingEvents<T> implements SegmentIterator<T> {
    private static final Logger LOG = LoggerFactory.getLogger(RemainingEvents.class);

    private final PravegaConnection connection;
    private final SegmentSlice slice;
    private final Serializer<T> deserializer;
    private SegmentIterator<T> events;
    /** The next event, read ahead: only its reading tells whether it still exists. */
    private T ahead;
    private long offsetAhead;
    private boolean isAhead;
    private boolean isOver;

    private RemainingEvents(PravegaConnection connection, SegmentSlice slice, Serializer<T> deserializer) {
        this.connection = connection;
        this.slice = slice;
        this.deserializer = deserializer;
        events = SliceEvents.of(connection, slice, deserializer);
    }

    /** Those of a slice of which a truncated event is an error, if {@code all} are wanted, or is passed over. */
    public static <T> SegmentIterator<T> of(
            PravegaConnection connection, SegmentSlice slice, Serializer<T> deserializer, boolean all) {
        return all ? SliceEvents.of(connection, slice, deserializer)
                : new RemainingEvents<>(connection, slice, deserializer);
    }

    @Override
    public boolean hasNext() {
        while (!isAhead && !isOver && events.hasNext()) {
            try {
                offsetAhead = events.getOffset();
                ahead = events.next();
                isAhead = true;
            } catch (TruncatedDataException truncated) {
                passOverWhatIsGone(truncated);
            }
        }
        return isAhead;
    }

    @Override
    public T next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        isAhead = false;
        return ahead;
    }

    /** Where the next event begins. */
    @Override
    public long getOffset() {
        return isAhead ? offsetAhead : events.getOffset();
    }

    @Override
    public void close() {
        events.close();
    }

    private void passOverWhatIsGone(TruncatedDataException truncated) {
        long first = Math.min(connection.metadata().firstOffset(slice.segment()), slice.end());
        if (first <= offsetAhead) {
            throw truncated;
        }
        LOG.warn("{} bytes of segment {} were truncated before they were read, from offset {}",
                first - offsetAhead, slice.segment(), offsetAhead);
        events.close();
        isOver = first == slice.end();
        if (!isOver) {
            events = SliceEvents.of(connection, new SegmentSlice(slice.segment(), first, slice.end()), deserializer);
        }
    }
}
