package murmuration.spark;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * The counts of one bucket: of each hashtag, of all tweets under the hashtag {@code total}, and by slot of their
 * sending.
 *
 * <p>Packed as the number of slots, these with their counts, then the hashtags with theirs up to the end.
 */
final class BucketCounts {
    private static final int USUAL_BYTES = 16 + HashtagCount.BYTES;

    private final Counting counting;
    private final Map<Long, HashtagCount> slots = new HashMap<>();
    private final Map<String, HashtagCount> hashtags = new HashMap<>();

    /** An empty one. */
    BucketCounts(Counting counting) {
        this.counting = counting;
    }

    BucketCounts(Counting counting, byte[] packed) {
        this(counting);
        ByteBuffer bytes = ByteBuffer.wrap(packed);
        for (int left = bytes.getInt(); left > 0; left--) {
            slots.put(bytes.getLong(), new HashtagCount(bytes));
        }
        while (bytes.hasRemaining()) {
            hashtags.put(Packing.text(bytes), new HashtagCount(bytes));
        }
    }

    void add(Tweet tweet) {
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

    byte[] toBytes() {
        Packing bytes = new Packing(USUAL_BYTES * (slots.size() + hashtags.size()));
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
