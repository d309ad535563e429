// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

import io.nats.client.Message;
import io.nats.client.support.Status;

/** Batches of direct gets, one after the other. They leave nothing behind on the server, but cost it more a message. */
final class DirectGets implements EventFeed {
    private static final String GET = "$JS.API.DIRECT.GET.";

    private final NatsConnection connection;
    private final String stream;
    private final String filter;
    private final BatchSize size = new BatchSize();
    private final long end;
    private long next;
    private Inbox inbox;

    /**
     * @param filter the subject of the messages, which may have wildcards, or null for all
     * @param end where no more are wanted; some behind it may come
     */
    DirectGets(NatsConnection connection, String stream, String filter, long start, long end) {
        this.connection = connection;
        this.stream = stream;
        this.filter = filter;
        this.end = end;
        next = start;
    }

    @Override
    public StoredEvent next() {
        while (next < end) {
            if (inbox == null) {
                ask();
            }
            Message message = inbox.next(GET + stream);
            Status status = message.getStatus();
            if (status == null) {
                StoredEvent event = StoredEvent.got(message);
                size.received(event);
                next = event.sequence() + 1;
                return event;
            }
            close();
            if (status.getCode() == Status.NOT_FOUND_CODE) {
                return null;
            }
            if (status.getCode() == Status.NO_RESPONDERS_CODE) {
                throw connection.unanswered(GET + stream + ": a stream with allow_direct", null);
            }
            if (status.getCode() != Status.EOB_CODE) {
                throw connection.unanswered(GET + stream + " says " + status.getMessageWithCode(), null);
            }
        }
        return null;
    }

    private void ask() {
        inbox = new Inbox(connection);
        String subject = filter == null ? "" : ",\"next_by_subj\":\"" + filter + "\"";
        inbox.ask(GET + stream, "{\"seq\":" + next + ",\"batch\":" + size.next(end - next) + ",\"max_bytes\":"
                + BatchSize.MAX_BYTES + subject + "}");
    }

    @Override
    public void close() {
        if (inbox != null) {
            inbox.close();
            inbox = null;
        }
    }
}
