package murmuration.spark;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/**
 * The counts of one bucket: of all tweets, of each hashtag, and by slot of their sending; with the ids of the tweets,
 * so that each counts once.
 *
 * <p>Packed as the ids, the count of all, the number of slots, these with their counts, then the hashtags with theirs
 * up to the end.
 */
final class BucketCounts {
    private static final int USUAL_BYTES = 16 + HashtagCount.BYTES;

    private final Counting counting;
    private final TweetIds ids;
    private final HashtagCount all;
    private final Map<Long, HashtagCount> slots = new HashMap<>();
    private final Map<String, HashtagCount> hashtags = new HashMap<>();

    /** Takes a count that has changed, of a hashtag or else with an empty one. */
    interface Changed {
        void accept(CountEvent.Kind kind, String hashtag, HashtagCount count);
    }

    /** An empty one. */
    BucketCounts(Counting counting) {
        this(counting, new TweetIds(), new HashtagCount());
    }

    BucketCounts(Counting counting, byte[] packed) {
        this(counting, ByteBuffer.wrap(packed));
    }

    private BucketCounts(Counting counting, ByteBuffer bytes) {
        this(counting, new TweetIds(bytes), new HashtagCount(bytes));
        for (int left = bytes.getInt(); left > 0; left--) {
            slots.put(bytes.getLong(), new HashtagCount(bytes));
        }
        while (bytes.hasRemaining()) {
            hashtags.put(Packing.text(bytes), new HashtagCount(bytes));
        }
    }

    private BucketCounts(Counting counting, TweetIds ids, HashtagCount all) {
        this.counting = counting;
        this.ids = ids;
        this.all = all;
    }

    /** Counts the tweet, unless it has been. */
    void add(Tweet tweet) {
        if (!ids.add(tweet.id())) {
            return;
        }
        long sentUs = tweet.sentUs();
        all.add(sentUs);
        slots.computeIfAbsent(sentUs / counting.slotUs(), absent -> new HashtagCount()).add(sentUs);
        for (String hashtag : tweet.hashtags()) {
            if (!hashtag.isEmpty()) {
                hashtags.computeIfAbsent(hashtag, absent -> new HashtagCount()).add(sentUs);
            }
        }
    }

    boolean isChanged() {
        return all.isChanged();
    }

    byte[] toBytes() {
        int size = Integer.BYTES + Long.BYTES * ids.size() + HashtagCount.BYTES
                + USUAL_BYTES * (slots.size() + hashtags.size());
        Packing bytes = new Packing(size);
        ids.pack(bytes);
        all.pack(bytes);
        bytes.putInt(slots.size());
        slots.forEach((slot, count) -> count.pack(bytes.putLong(slot)));
        hashtags.forEach((hashtag, count) -> count.pack(bytes.putText(hashtag)));
        return bytes.toBytes();
    }

    /** What has grown since the bucket was read; last the slots, whose tweets are visible with what comes before. */
    void forEachChanged(Changed consumer) {
        if (all.isChanged()) {
            consumer.accept(CountEvent.Kind.BUCKET, "", all);
        }
        hashtags.forEach((hashtag, count) -> {
            if (count.isChanged()) {
                consumer.accept(CountEvent.Kind.HASHTAG, hashtag, count);
            }
        });
        for (HashtagCount count : slots.values()) {
            if (count.isChanged()) {
                consumer.accept(CountEvent.Kind.SLOT, "", count);
            }
        }
    }
}
