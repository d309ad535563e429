package murmuration.spark;

import java.io.Serializable;

/**
 * How to count; the constants are those of common/tweets.py.
 *
 * @param total the hashtag that stands for every tweet
 * @param stream where the counts go
 */
public record Counting(long bucketMs, long slotUs, String total, String stream) implements Serializable {
    /** Start of the bucket of a tweet that was created then. */
    long bucketOf(long createdMs) {
        return Math.floorDiv(createdMs, bucketMs) * bucketMs;
    }
}
