// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.append;

/** A segment takes no more events: it is sealed, or was deleted. */
final class SegmentEndedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    SegmentEndedException(String message) {
        super(message);
    }
}
