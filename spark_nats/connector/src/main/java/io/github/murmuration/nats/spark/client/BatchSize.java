// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

/** How many messages to ask for at once, by the size of those that came. */
final class BatchSize {
    /** A batch is to take so many bytes; the server ends one that takes twice as much. */
    private static final int BYTES = 2 << 20;
    static final int MAX_BYTES = 2 * BYTES;
    private static final int FIRST = 500;
    private static final int LARGEST = 20_000;
    /** Of headers and protocol, in each message. */
    private static final int OVERHEAD = 150;

    private long bytes;
    private long messages;

    void received(StoredEvent event) {
        bytes += event.event().length + OVERHEAD;
        messages++;
    }

    long next(long wanted) {
        long size = messages == 0 ? FIRST : Math.max(1, Math.min(LARGEST, BYTES * messages / bytes));
        return Math.min(size, wanted);
    }
}
