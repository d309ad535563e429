// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

import io.github.murmuration.nats.spark.NatsException;

/** JetStream answered with an error. */
public final class ApiException extends NatsException {
    private static final long serialVersionUID = 1L;

    /** JetStream's numbers of errors that are told apart here. */
    private static final int STREAM_NOT_FOUND = 10059;
    private static final int WRONG_LAST_SEQUENCE = 10071;
    private static final int WRONG_LAST_SEQUENCE_CONSTANT = 10164;
    private static final int BATCHES_NOT_ENABLED = 10174;
    private static final int BATCH_INCOMPLETE = 10176;
    private static final int BATCH_TOO_LARGE = 10199;
    private static final int TOO_MANY_BATCHES = 10210;
    private static final int TOO_MANY_REQUESTS = 10167;

    private final int number;

    ApiException(String what, int number, String description) {
        super(what + ": " + description + " (" + number + ")" + advice(number));
        this.number = number;
    }

    boolean isNotFound() {
        return number == STREAM_NOT_FOUND;
    }

    /** Somebody else has written to the subject since it was looked at. */
    public boolean isFenced() {
        return number == WRONG_LAST_SEQUENCE || number == WRONG_LAST_SEQUENCE_CONSTANT;
    }

    /** The same may succeed when it is tried again. */
    public boolean isPassing() {
        return number == BATCH_INCOMPLETE || number == TOO_MANY_BATCHES || number == TOO_MANY_REQUESTS;
    }

    private static String advice(int number) {
        return switch (number) {
            case BATCH_TOO_LARGE -> ". Set the server's jetstream { limits { batch { max_msgs: N } } }, which is 1000 "
                    + "by default, to at least the option batch_events, or batch_events to at most max_msgs";
            case BATCHES_NOT_ENABLED -> ". Set allow_atomic of the stream";
            default -> "";
        };
    }
}
