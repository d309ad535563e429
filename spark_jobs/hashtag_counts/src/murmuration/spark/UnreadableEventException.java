package murmuration.spark;

/** An event is not of the contract. */
final class UnreadableEventException extends Exception {
    private static final long serialVersionUID = 1;

    UnreadableEventException(Throwable cause) {
        super(cause);
    }
}
