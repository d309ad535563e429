// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

import io.nats.client.Message;
import io.nats.client.Subscription;
import io.nats.client.support.Status;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;

/**
 * The messages of one JetStream stream in a range of sequences, in order, by batches of direct gets: these leave nothing
 * behind on the server. The next batch is asked for while one is read. A server that is away is waited for.
 */
public final class StoredEvents implements AutoCloseable {
    /** Bytes of messages that one batch is to take, and how many messages it takes at first. */
    private static final int BATCH_BYTES = 2 << 20;
    private static final int FIRST_BATCH = 512;
    private static final int LARGEST_BATCH = 8192;
    private static final int AHEAD = 2;

    private static final String GET = "$JS.API.DIRECT.GET.";
    private static final String SEQUENCE = "Nats-Sequence";

    private final NatsConnection connection;
    private final String stream;
    private final String filter;
    private final long end;
    private final ArrayDeque<Request> requests = new ArrayDeque<>();
    private final Patience patience = new Patience();
    private long next;
    private long asked;
    private long bytes;
    private long count;
    private boolean ended;
    /** Where a gap began that is looked at once more: messages also get lost with a connection. */
    private long doubted = -1;

    private record Request(Subscription answers, long until) {
    }

    /** A message and its sequence; events are handed over as they came. */
    public record Stored(Message message, long sequence) {
    }

    /** @param filter the subject of the messages, or null for all; sequences between them are passed over then */
    public StoredEvents(NatsConnection connection, String stream, String filter, long start, long end) {
        this.connection = connection;
        this.stream = stream;
        this.filter = filter;
        this.end = end;
        next = start;
        asked = start;
    }

    /** The next message, or null if there is none before the end of the range. */
    public Stored next() {
        while (next < end && !ended) {
            try {
                Stored stored = receive();
                if (stored != null) {
                    patience.succeeded();
                    return stored;
                }
            } catch (UnansweredException failed) {
                again();
                patience.pauseAfter(failed);
            }
        }
        return null;
    }

    /** One step: a message, or null after an end of a batch. */
    private Stored receive() {
        ask();
        Message message = nextMessage(requests.getFirst().answers);
        Status status = message.getStatus();
        if (status == null) {
            return stored(message);
        }
        if (status.getCode() == Status.EOB_CODE) {
            endOfBatch();
        } else if (status.getCode() == Status.NOT_FOUND_CODE) {
            ended = true; // nothing is left from here on
        } else {
            throw connection.unanswered(GET + stream + " says " + status.getMessageWithCode(), null);
        }
        return null;
    }

    private Stored stored(Message message) {
        long sequence = Long.parseLong(message.getHeaders().getFirst(SEQUENCE));
        if (sequence >= end) {
            ended = true;
            return null;
        }
        if (filter == null && sequence != next && doubted != next) {
            doubted = next;
            again();
            return null;
        }
        bytes += message.getData().length + 256;
        count++;
        next = sequence + 1;
        return new Stored(message, sequence);
    }

    /** What was asked for ahead does not begin where this batch ended if that was cut by its bytes. */
    private void endOfBatch() {
        Request request = requests.removeFirst();
        request.answers.unsubscribe();
        if (filter != null || next < request.until) {
            again();
        }
    }

    private void again() {
        close();
        asked = next;
    }

    private void ask() {
        int ahead = filter == null ? AHEAD : 1;
        while (requests.size() < ahead && asked < end) {
            long size = count == 0 ? FIRST_BATCH : Math.max(1, Math.min(LARGEST_BATCH, BATCH_BYTES * count / bytes));
            long until = Math.min(end, asked + size);
            String inbox = connection.client().createInbox();
            Subscription answers = connection.client().subscribe(inbox);
            answers.setPendingLimits(0, 0);
            requests.add(new Request(answers, until));
            String subject = filter == null ? "" : ",\"next_by_subj\":\"" + filter + "\"";
            String request = "{\"seq\":" + asked + ",\"batch\":" + (until - asked) + ",\"max_bytes\":"
                    + 2 * BATCH_BYTES + subject + "}";
            try {
                connection.client().publish(GET + stream, inbox, request.getBytes(StandardCharsets.UTF_8));
            } catch (IllegalStateException closed) {
                throw connection.unanswered(GET + stream, closed);
            }
            asked = until;
        }
    }

    private Message nextMessage(Subscription answers) {
        try {
            Message message = answers.nextMessage(ANSWER);
            if (message == null) {
                throw connection.unanswered(GET + stream, null);
            }
            return message;
        } catch (IllegalStateException closed) {
            throw connection.unanswered(GET + stream, closed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while reading " + stream, interrupted);
        }
    }

    /** Between two messages of a batch; a server that was killed does not go on with its batch. */
    private static final Duration ANSWER = Duration.ofSeconds(5);

    @Override
    public void close() {
        requests.forEach(request -> {
            try {
                request.answers.unsubscribe();
            } catch (IllegalStateException closed) {
                // So there is nothing to take back.
            }
        });
        requests.clear();
    }
}
