package murmuration.spark;

import java.nio.ByteBuffer;

/** Number of tweets, and range of their {@code sent_at_us} as far as they tell. Packed as these three numbers. */
final class HashtagCount {
    static final int BYTES = 3 * Long.BYTES;

    private long tweets;
    private long minSentUs = Long.MAX_VALUE;
    private long maxSentUs = Long.MIN_VALUE;
    private boolean changed;

    HashtagCount() {}

    HashtagCount(ByteBuffer packed) {
        tweets = packed.getLong();
        minSentUs = packed.getLong();
        maxSentUs = packed.getLong();
    }

    void add(Long sentUs) {
        tweets++;
        changed = true;
        if (sentUs != null) {
            minSentUs = Math.min(minSentUs, sentUs);
            maxSentUs = Math.max(maxSentUs, sentUs);
        }
    }

    void pack(Packing bytes) {
        bytes.putLong(tweets).putLong(minSentUs).putLong(maxSentUs);
    }

    long tweets() {
        return tweets;
    }

    boolean hasSent() {
        return minSentUs <= maxSentUs;
    }

    long minSentUs() {
        return minSentUs;
    }

    long maxSentUs() {
        return maxSentUs;
    }

    boolean isChanged() {
        return changed;
    }
}
