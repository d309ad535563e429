// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import io.github.murmuration.nats.spark.NatsException;
import io.github.murmuration.nats.spark.client.NatsConnection;
import io.github.murmuration.nats.spark.client.PublishAck;
import io.nats.client.Message;
import io.nats.client.NUID;
import io.nats.client.impl.Headers;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;

/**
 * An atomic batch of JetStream: all its messages become readable, and durable, in one step or not at all. Members are
 * published without waiting; every so many ask for an answer, so that no more is under way than the server's queue
 * takes.
 */
final class AtomicBatch {
    /**
     * Messages and bytes between two answers, and how many answers may be missing: a tenth of what a server keeps of a
     * stream's messages before it looks at them, 10,000 unless it is configured otherwise; several tasks share that.
     */
    private static final int STEP_MESSAGES = 250;
    private static final int STEP_BYTES = 1 << 20;
    private static final int UNANSWERED = 3;

    private static final String ID = "Nats-Batch-Id";
    private static final String SEQUENCE = "Nats-Batch-Sequence";
    private static final String COMMIT = "Nats-Batch-Commit";

    private final NatsConnection connection;
    private final String subject;
    private final String id = NUID.nextGlobal();
    private final ArrayDeque<CompletableFuture<Message>> unanswered = new ArrayDeque<>();
    private int size;
    private int messagesSinceStep;
    private int bytesSinceStep;

    AtomicBatch(NatsConnection connection, String subject) {
        this.connection = connection;
        this.subject = subject;
    }

    /**
     * A member that is not the last one.
     *
     * @throws NatsException if the server refused an earlier one, or takes none of this size
     */
    void add(Headers headers, byte[] event) {
        member(headers);
        requireFits(headers, event);
        messagesSinceStep++;
        bytesSinceStep += event.length;
        if (size == 1 || messagesSinceStep >= STEP_MESSAGES || bytesSinceStep >= STEP_BYTES) {
            unanswered.add(connection.send(subject, headers, event));
            messagesSinceStep = 0;
            bytesSinceStep = 0;
            while (unanswered.size() > UNANSWERED) {
                check();
            }
        } else {
            connection.publish(subject, headers, event);
        }
    }

    /**
     * The last member, with which the batch is committed. Its answer is for {@link #sequence}. A single message needs
     * no batch, which costs the server four syncs where the message costs it one.
     */
    CompletableFuture<Message> commit(Headers headers, byte[] event) {
        if (size > 0) {
            member(headers.put(COMMIT, "1"));
        }
        requireFits(headers, event);
        return connection.send(subject, headers, event);
    }

    /** Sequence of the batch's last message in the stream. */
    long sequence(CompletableFuture<Message> committed) {
        while (!unanswered.isEmpty()) {
            check();
        }
        return PublishAck.sequence(connection.await(committed, what()), what());
    }

    private void check() {
        PublishAck.requireNoError(connection.await(unanswered.removeFirst(), what()), what());
    }

    private String what() {
        return "an atomic batch on " + subject;
    }

    private void member(Headers headers) {
        size++;
        headers.put(ID, id).put(SEQUENCE, Integer.toString(size));
    }

    private void requireFits(Headers headers, byte[] event) {
        long bytes = headers.serializedLength() + (long) event.length;
        if (bytes > connection.client().getMaxPayload()) {
            throw new NatsException("an event of " + event.length + " bytes takes " + bytes + " with its headers, and "
                    + "the server takes at most " + connection.client().getMaxPayload() + ": set its max_payload");
        }
    }
}
