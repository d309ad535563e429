package murmuration.spark;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** Number of tweets, and range of their {@code sent_at_us}. Stored as these three numbers. */
final class HashtagCount {
    private long tweets;
    private long minSentUs = Long.MAX_VALUE;
    private long maxSentUs = Long.MIN_VALUE;
    private boolean changed;

    HashtagCount() {}

    HashtagCount(DataInputStream in) throws IOException {
        tweets = in.readLong();
        minSentUs = in.readLong();
        maxSentUs = in.readLong();
    }

    void add(long sentUs) {
        tweets++;
        changed = true;
        minSentUs = Math.min(minSentUs, sentUs);
        maxSentUs = Math.max(maxSentUs, sentUs);
    }

    void write(DataOutputStream out) throws IOException {
        out.writeLong(tweets);
        out.writeLong(minSentUs);
        out.writeLong(maxSentUs);
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
