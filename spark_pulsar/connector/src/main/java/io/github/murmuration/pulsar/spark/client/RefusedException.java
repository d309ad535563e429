// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.client;

import io.github.murmuration.pulsar.spark.PulsarException;

/** The broker answered that it did not do what it was asked for. */
public final class RefusedException extends PulsarException {
    private static final long serialVersionUID = 1L;
    private static final int NOT_FOUND = 404;

    private final int status;

    RefusedException(int status, String message) {
        super(message);
        this.status = status;
    }

    public boolean isNotFound() {
        return status == NOT_FOUND;
    }
}
