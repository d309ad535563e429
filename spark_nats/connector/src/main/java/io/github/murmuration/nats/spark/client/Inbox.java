// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

import io.nats.client.Message;
import io.nats.client.Subscription;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** A subject for the answers to requests that are answered by many messages. */
final class Inbox implements AutoCloseable {
    /** Between two messages; a server that was killed does not go on. */
    private static final Duration ANSWER = Duration.ofSeconds(5);

    private final NatsConnection connection;
    private final String subject;
    private final Subscription messages;

    Inbox(NatsConnection connection) {
        this.connection = connection;
        subject = connection.client().createInbox();
        try {
            messages = connection.client().subscribe(subject);
        } catch (IllegalStateException closed) {
            throw connection.unanswered("a subscription", closed);
        }
        messages.setPendingLimits(0, 0); // what is asked for is bounded
    }

    void ask(String api, String json) {
        try {
            connection.client().publish(api, subject, json.getBytes(StandardCharsets.UTF_8));
        } catch (IllegalStateException closed) {
            throw connection.unanswered(api, closed);
        }
    }

    /** @throws UnansweredException if none comes */
    Message next(String what) {
        try {
            Message message = messages.nextMessage(ANSWER);
            if (message == null) {
                throw connection.unanswered(what, null);
            }
            return message;
        } catch (IllegalStateException closed) {
            throw connection.unanswered(what, closed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted: " + what, interrupted);
        }
    }

    @Override
    public void close() {
        try {
            messages.unsubscribe();
        } catch (IllegalStateException closed) {
            // So there is nothing to take back.
        }
    }
}
