package io.github.murmuration.pravega.spark;

import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.Stream;

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

    /** Pravega does not let this user in, or not there. */
    static PravegaException refused(Throwable cause) {
        return new PravegaException("Pravega refuses access: " + PravegaOptions.AUTH_METHOD + " and "
                + PravegaOptions.AUTH_TOKEN + " are missing, wrong, or of a user without the permission", cause);
    }

    /** The server shows a certificate that this client does not accept. */
    static PravegaException untrusted(Throwable cause) {
        return new PravegaException("Pravega's certificate is not accepted: " + PravegaOptions.TRUST_STORE
                + " is missing or names another one, or " + PravegaOptions.VALIDATE_HOST_NAME
                + " is true and the certificate is for another host", cause);
    }

    /** Events that were to be read are gone. */
    static PravegaException dataLoss(Segment segment, Throwable cause) {
        return new PravegaException("segment " + segment.getScopedName() + " was truncated beyond the place to read from: "
                + "events are lost. With " + PravegaOptions.FAIL_ON_DATA_LOSS + "=false they are passed over", cause);
    }

    /** The place to read from is in a stream that does not exist any more. */
    static PravegaException createdAnew(Stream stream) {
        return new PravegaException("stream " + stream.getScopedName() + " was deleted and created anew since the place to "
                + "read from was taken: events may be lost. With " + PravegaOptions.FAIL_ON_DATA_LOSS
                + "=false the new stream is read from its head");
    }
}
