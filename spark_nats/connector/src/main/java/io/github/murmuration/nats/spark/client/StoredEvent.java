// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

import io.nats.client.Message;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** A message as a stream holds it. What is known of it beside its own headers comes in one of two forms. */
public record StoredEvent(Message message, long sequence) {
    private static final String SEQUENCE = "Nats-Sequence";
    private static final String TIME = "Nats-Time-Stamp";
    /** Of the tokens of a consumer's reply subject, counted from its end, of which there may be one more. */
    private static final int TOKENS = 9;
    private static final int TOKENS_WITH_DOMAIN = 12;
    private static final int SEQUENCE_TOKEN = 5;
    private static final int TIME_TOKEN = 7;

    /** From a direct get: headers tell. */
    static StoredEvent got(Message message) {
        return new StoredEvent(message, Long.parseLong(message.getHeaders().getFirst(SEQUENCE)));
    }

    /** From a consumer: the reply subject tells. */
    static StoredEvent pulled(Message message) {
        return new StoredEvent(message, number(message.getReplyTo(), SEQUENCE_TOKEN));
    }

    /** A header of the message, or null. */
    public String header(String name) {
        return message.getHeaders() == null ? null : message.getHeaders().getFirst(name);
    }

    public byte[] event() {
        return message.getData();
    }

    /** When the server stored it, in microseconds since 1970. */
    public long micros() {
        if (message.getReplyTo() != null) {
            return number(message.getReplyTo(), TIME_TOKEN) / 1000;
        }
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.parse(header(TIME)));
    }

    /** With a domain there are two tokens more in front. */
    private static long number(String reply, int token) {
        int tokens = 1;
        for (int index = reply.indexOf('.'); index >= 0; index = reply.indexOf('.', index + 1)) {
            tokens++;
        }
        int before = tokens < TOKENS_WITH_DOMAIN - 1 ? token : token + 2;
        if (tokens < TOKENS) {
            throw new IllegalStateException("no reply subject of a consumer: " + reply);
        }
        int from = 0;
        for (int passed = 0; passed < before; passed++) {
            from = reply.indexOf('.', from) + 1;
        }
        return Long.parseLong(reply, from, reply.indexOf('.', from), 10);
    }
}
