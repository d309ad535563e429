package murmuration.spark;

import java.io.Serializable;

/**
 * How to count; the constants are those of common/tweets.py.
 *
 * @param stream where the counts go
 * @param shards by which tasks share the tweets
 */
public record Counting(long bucketMs, long slotUs, String stream, Shards shards) implements Serializable {
    /** Start of the bucket of a tweet that was created then. */
    long bucketOf(long createdMs) {
        return Math.floorDiv(createdMs, bucketMs) * bucketMs;
    }
}
