// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark;

/** Pulsar refused a request, did not answer in time, or cannot be reached. */
public class PulsarException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public PulsarException(String message) {
        super(message);
    }

    public PulsarException(String message, Throwable cause) {
        super(message, cause);
    }
}
