package murmuration.spark;

import java.nio.ByteBuffer;

/** Number of tweets, and range of their {@code sent_at_us}. Packed as these three numbers. */
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

    void add(long sentUs) {
        tweets++;
        changed = true;
        minSentUs = Math.min(minSentUs, sentUs);
        maxSentUs = Math.max(maxSentUs, sentUs);
    }

    void pack(Packing bytes) {
        bytes.putLong(tweets).putLong(minSentUs).putLong(maxSentUs);
    }

    long tweets() {
        return tweets;
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
