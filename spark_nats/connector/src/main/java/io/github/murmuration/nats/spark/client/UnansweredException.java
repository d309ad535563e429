// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

import io.github.murmuration.nats.spark.NatsException;

/** No answer came: the server is away, or the connection was lost. Whether it did what was asked is not known. */
public final class UnansweredException extends NatsException {
    private static final long serialVersionUID = 1L;

    UnansweredException(String message, Throwable cause) {
        super(message, cause);
    }
}
