package io.github.murmuration.pravega.spark;

/** A read or write failed; the message names the way out where there is one. */
public final class PravegaException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    PravegaException(String message) {
        super(message);
    }

    PravegaException(String message, Throwable cause) {
        super(message, cause);
    }

    PravegaException(Throwable cause) {
        super(cause);
    }
}
