package murmuration.spark;

import java.io.Serializable;

/** How to count; the constants are those of common/tweets.py. */
record Counting(long delayMs, long bucketMs, long slotUs, String total) implements Serializable {
    /** Start of the bucket of a tweet that was created then. */
    long bucketOf(long createdMs) {
        return Math.floorDiv(createdMs, bucketMs) * bucketMs;
    }

    /** The first end of a bucket at or after {@code ms}. */
    long bucketEndFrom(long ms) {
        return -Math.floorDiv(-ms, bucketMs) * bucketMs;
    }
}
