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

/**
 * The counts of one bucket: of all tweets, of each hashtag, and by slot of their sending; with the ids of the tweets,
 * so that each counts once.
 *
 * <p>Stored as the number of ids, these, the count of all, the number of slots, these with their counts, then the
 * hashtags with theirs up to the end.
 */
final class BucketCounts {
    private final Counting counting;
    private final Set<Long> ids = new HashSet<>();
    private final HashtagCount all;
    private final Map<Long, HashtagCount> slots = new HashMap<>();
    private final Map<String, HashtagCount> hashtags = new HashMap<>();

    /** Takes a count that has changed, of a hashtag or else with an empty one. */
    interface Changed {
        void accept(CountEvent.Kind kind, String hashtag, HashtagCount count);
    }

    /** An empty one. */
    BucketCounts(Counting counting) {
        this.counting = counting;
        all = new HashtagCount();
    }

    BucketCounts(Counting counting, byte[] stored) {
        this.counting = counting;
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(stored));
        try {
            for (int left = in.readInt(); left > 0; left--) {
                ids.add(in.readLong());
            }
            all = new HashtagCount(in);
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
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(Long.BYTES * ids.size());
        DataOutputStream out = new DataOutputStream(bytes);
        try {
            out.writeInt(ids.size());
            for (long id : ids) {
                out.writeLong(id);
            }
            all.write(out);
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
