// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

import io.nats.client.Message;
import io.nats.client.impl.Headers;
import io.nats.client.support.Status;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** The newest message of a subject that a stream still holds. */
public record LastMessage(long sequence, Headers headers) {
    /** Its answer is for {@link #of}. */
    public static CompletableFuture<Message> ask(NatsConnection connection, String stream, String subject) {
        return connection.send("$JS.API.DIRECT.GET." + stream, "{\"last_by_subj\":\"" + subject + "\"}");
    }

    /** @throws UnansweredException if there is no answer */
    public static Optional<LastMessage> of(
            NatsConnection connection, CompletableFuture<Message> answer, String subject) {
        Message message =
                connection.await(answer, "the last message of " + subject + ", of a stream with allow_direct");
        Status status = message.getStatus();
        if (status == null) {
            return Optional.of(new LastMessage(
                    Long.parseLong(message.getHeaders().getFirst("Nats-Sequence")), message.getHeaders()));
        }
        if (status.getCode() == Status.NOT_FOUND_CODE) {
            return Optional.empty();
        }
        throw connection.unanswered("the last message of " + subject + ": " + status.getMessageWithCode(), null);
    }
}
