package murmuration.spark;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * The counts of one bucket: of each hashtag, of all tweets under the hashtag {@code total}, and by slot of their
 * sending; with the ids of the tweets, so that each counts once.
 *
 * <p>Packed as the ids, the number of slots, these with their counts, then the hashtags with theirs up to the end.
 */
final class BucketCounts {
    private static final int USUAL_BYTES = 16 + HashtagCount.BYTES;

    private final Counting counting;
    private final TweetIds ids;
    private final Map<Long, HashtagCount> slots = new HashMap<>();
    private final Map<String, HashtagCount> hashtags = new HashMap<>();
    private boolean changed;

    /** An empty one. */
    BucketCounts(Counting counting) {
        this(counting, new TweetIds());
    }

    BucketCounts(Counting counting, byte[] packed) {
        this(counting, ByteBuffer.wrap(packed));
    }

    private BucketCounts(Counting counting, ByteBuffer bytes) {
        this(counting, new TweetIds(bytes));
        for (int left = bytes.getInt(); left > 0; left--) {
            slots.put(bytes.getLong(), new HashtagCount(bytes));
        }
        while (bytes.hasRemaining()) {
            hashtags.put(Packing.text(bytes), new HashtagCount(bytes));
        }
    }

    private BucketCounts(Counting counting, TweetIds ids) {
        this.counting = counting;
        this.ids = ids;
    }

    /** Counts the tweet, unless it has been. */
    void add(Tweet tweet) {
        if (!ids.add(tweet.id())) {
            return;
        }
        changed = true;
        Long sentUs = tweet.sentUs();
        count(counting.total(), sentUs);
        if (sentUs != null) {
            long slot = Math.floorDiv(sentUs, counting.slotUs());
            slots.computeIfAbsent(slot, absent -> new HashtagCount()).add(sentUs);
        }
        for (String hashtag : tweet.hashtags()) {
            if (!hashtag.equals(counting.total())) {
                count(hashtag, sentUs);
            }
        }
    }

    private void count(String hashtag, Long sentUs) {
        hashtags.computeIfAbsent(hashtag, absent -> new HashtagCount()).add(sentUs);
    }

    boolean isChanged() {
        return changed;
    }

    byte[] toBytes() {
        int size = Integer.BYTES + Long.BYTES * ids.size() + USUAL_BYTES * (slots.size() + hashtags.size());
        Packing bytes = new Packing(size);
        ids.pack(bytes);
        bytes.putInt(slots.size());
        slots.forEach((slot, count) -> count.pack(bytes.putLong(slot)));
        hashtags.forEach((hashtag, count) -> count.pack(bytes.putText(hashtag)));
        return bytes.toBytes();
    }

    /** What has grown since the bucket was read; a slot's tweets are of the hashtag {@code total}. */
    void forEachChanged(BiConsumer<String, HashtagCount> consumer) {
        for (HashtagCount count : slots.values()) {
            if (count.isChanged()) {
                consumer.accept(counting.total(), count);
            }
        }
        hashtags.forEach((hashtag, count) -> {
            if (count.isChanged()) {
                consumer.accept(hashtag, count);
            }
        });
    }
}
