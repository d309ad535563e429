package murmuration.spark;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * The counts of one bucket: of each hashtag, of all tweets under the hashtag {@code total}, and by slot of their
 * sending; with the ids of the tweets, so that each counts once.
 *
 * <p>Stored as the number of ids, these, the number of slots, these with their counts, then the hashtags with theirs up
 * to the end.
 */
final class BucketCounts {
    private final Counting counting;
    private final Set<Long> ids = new HashSet<>();
    private final Map<Long, HashtagCount> slots = new HashMap<>();
    private final Map<String, HashtagCount> hashtags = new HashMap<>();
    private boolean changed;

    /** An empty one. */
    BucketCounts(Counting counting) {
        this.counting = counting;
    }

    BucketCounts(Counting counting, byte[] stored) {
        this(counting);
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(stored));
        try {
            for (int left = in.readInt(); left > 0; left--) {
                ids.add(in.readLong());
            }
            for (int left = in.readInt(); left > 0; left--) {
                slots.put(in.readLong(), new HashtagCount(in));
            }
            while (in.available() > 0) {
                hashtags.put(Text.read(in), new HashtagCount(in));
            }
        } catch (IOException cutOff) {
            throw new UncheckedIOException(cutOff);
        }
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
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(Long.BYTES * ids.size());
        DataOutputStream out = new DataOutputStream(bytes);
        try {
            out.writeInt(ids.size());
            for (long id : ids) {
                out.writeLong(id);
            }
            out.writeInt(slots.size());
            for (Map.Entry<Long, HashtagCount> slot : slots.entrySet()) {
                out.writeLong(slot.getKey());
                slot.getValue().write(out);
            }
            for (Map.Entry<String, HashtagCount> hashtag : hashtags.entrySet()) {
                Text.write(out, hashtag.getKey());
                hashtag.getValue().write(out);
            }
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
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
