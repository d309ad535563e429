// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.client;

import io.github.murmuration.pulsar.spark.PulsarException;

/** There was no answer, or one of a broker that is just starting. */
public final class UnansweredException extends PulsarException {
    private static final long serialVersionUID = 1L;

    UnansweredException(String message, Throwable cause) {
        super(message, cause);
    }
}
