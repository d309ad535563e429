// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark;

/** A NATS server refused a request, did not answer in time, or cannot be reached. */
public class NatsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public NatsException(String message) {
        super(message);
    }

    public NatsException(String message, Throwable cause) {
        super(message, cause);
    }
}
