// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark;

import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.Stream;

/** A read or write failed; the message names the way out where there is one. */
public final class PravegaException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Whether trying again cannot help. */
    private final boolean isFinal;

    public PravegaException(String message) {
        this(message, null);
    }

    public PravegaException(String message, Throwable cause) {
        this(message, cause, false);
    }

    public PravegaException(Throwable cause) {
        this(cause.toString(), cause, false);
    }

    private PravegaException(String message, Throwable cause, boolean isFinal) {
        super(message, cause);
        this.isFinal = isFinal;
    }

    public boolean isFinal() {
        return isFinal;
    }

    /** Pravega does not let this user in, or not there. */
    public static PravegaException refused(Throwable cause) {
        return new PravegaException("Pravega refuses access: " + PravegaOptions.AUTH_METHOD + " and "
                + PravegaOptions.AUTH_TOKEN + " are missing, wrong, or of a user without the permission", cause, true);
    }

    /** An epoch comes after a later one of its query was written. */
    public static PravegaException setBack(long written, long next) {
        return new PravegaException("epoch " + written + " of this query was written already, now epoch " + next
                + " comes: another driver runs it, or its checkpoint was set back or copied. Begin with a new "
                + "checkpoint where that one had come to", null, true);
    }

    /** Nobody can tell any more whether an epoch is there. */
    public static PravegaException unknownEpoch(long epoch, String why) {
        return new PravegaException("it cannot be known whether epoch " + epoch + " was written: " + why + ". Let it "
                + "run once with " + PravegaOptions.ON_UNKNOWN_EPOCH + "=write, which may write it a second "
                + "time, or with =skip, which may leave it out", null, true);
    }

    /** The server shows a certificate that this client does not accept. */
    public static PravegaException untrusted(Throwable cause) {
        return new PravegaException("Pravega's certificate is not accepted: " + PravegaOptions.TRUST_STORE
                + " is missing or names another one, or " + PravegaOptions.VALIDATE_HOST_NAME
                + " is true and the certificate is for another host", cause);
    }

    /** Events that were to be read are gone; if all of the segment is, nobody can tell whether any was left to read. */
    public static PravegaException dataLoss(Segment segment, Throwable cause) {
        return new PravegaException("segment " + segment.getScopedName() + " was truncated beyond the place to read "
                + "from: events are lost, unless all of it was read and it was removed since. With "
                + PravegaOptions.FAIL_ON_DATA_LOSS + "=false they are passed over", cause);
    }

    /** The stream is not there, or not any more. */
    public static PravegaException noStream(Stream stream) {
        return new PravegaException("stream " + stream.getScopedName() + " does not exist: it was deleted");
    }

    /** The place to read from is in a stream that does not exist any more. */
    public static PravegaException createdAnew(Stream stream) {
        return new PravegaException("stream " + stream.getScopedName() + " was deleted and created anew since the "
                + "place to read from was taken: events may be lost. With " + PravegaOptions.FAIL_ON_DATA_LOSS
                + "=false the new stream is read from its head");
    }
}
