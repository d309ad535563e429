// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

import io.github.murmuration.spark.common.client.Patience;
import java.util.function.LongFunction;

/**
 * The messages of one JetStream stream in a range of sequences, in order. A server that is away is waited for.
 *
 * <p>Many messages are pulled by a consumer, few are got directly; so is the rest when a consumer yields anything but
 * the next message, since a direct get tells what the stream holds.
 */
public final class StoredEvents implements AutoCloseable {
    /** From so many messages on a consumer is worth it. */
    private static final long MANY = 1000;

    private final long end;
    private final LongFunction<EventFeed> direct;
    private final boolean filtered;
    private final Patience patience = new Patience();
    private EventFeed feed;
    private boolean isPulled;
    private long next;
    private long doubted = -1;
    private boolean ended;

    /** @param filter the subject of the messages, or null for all; sequences between them are passed over then */
    public StoredEvents(NatsConnection connection, String stream, String filter, long start, long end) {
        this.end = end;
        next = start;
        filtered = filter != null;
        direct = from -> new DirectGets(connection, stream, filter, from, end);
        if (!filtered && end - start >= MANY) {
            try {
                feed = new PulledEvents(connection, stream, start, end - start);
                isPulled = true;
            } catch (UnansweredException failed) {
                feed = null;
            }
        }
    }

    /** The next message, or null if there is none before the end of the range. */
    public StoredEvent next() {
        while (next < end && !ended) {
            try {
                StoredEvent event = receive();
                if (event != null) {
                    patience.succeeded();
                    next = event.sequence() + 1;
                    return event;
                }
            } catch (UnansweredException failed) {
                close();
                patience.pauseAfter(failed);
            }
        }
        return null;
    }

    private StoredEvent receive() {
        if (feed == null) {
            feed = direct.apply(next);
        }
        StoredEvent event = feed.next();
        if (event != null && event.sequence() == next) {
            return event;
        }
        if (isPulled || isDoubtful(event)) {
            close();
            return null;
        }
        if (event == null || event.sequence() >= end) {
            ended = true;
            return null;
        }
        return event;
    }

    /** A gap is looked at once more: messages also get lost with a connection. */
    private boolean isDoubtful(StoredEvent event) {
        boolean isFirst = !filtered && event != null && doubted != next;
        if (isFirst) {
            doubted = next;
        }
        return isFirst;
    }

    @Override
    public void close() {
        if (feed != null) {
            feed.close();
            feed = null;
        }
        isPulled = false;
    }
}
