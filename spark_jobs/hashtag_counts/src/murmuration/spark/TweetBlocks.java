package murmuration.spark;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Consumer;
import scala.Tuple2;

/**
 * The tweets of a partition in blocks: the latest {@code created_at}, for the watermark, and the tweets, packed.
 *
 * <p>A tweet is packed as its id, {@code created_at} in ms, {@code sent_at_us} (or NOT_SENT), the number of its
 * hashtags and these.
 */
final class TweetBlocks implements Iterator<Tuple2<Instant, byte[]>> {
    private static final int BLOCK_BYTES = 1 << 18;
    private static final long NOT_SENT = Long.MIN_VALUE;

    private final Iterator<byte[]> events;
    private Tweet next;

    TweetBlocks(Iterator<byte[]> events) {
        this.events = events;
        advance();
    }

    @Override
    public boolean hasNext() {
        return next != null;
    }

    @Override
    public Tuple2<Instant, byte[]> next() {
        if (next == null) {
            throw new NoSuchElementException();
        }
        long latestMs = Long.MIN_VALUE;
        Packing block = new Packing(BLOCK_BYTES);
        while (next != null && block.size() < BLOCK_BYTES) {
            latestMs = Math.max(latestMs, next.createdMs());
            pack(next, block);
            advance();
        }
        return new Tuple2<>(Instant.ofEpochMilli(latestMs), block.toBytes());
    }

    private void advance() {
        next = null;
        while (next == null && events.hasNext()) {
            next = EnrichedEvent.read(events.next());
        }
    }

    private static void pack(Tweet tweet, Packing block) {
        block.putLong(tweet.id()).putLong(tweet.createdMs());
        block.putLong(tweet.sentUs() == null ? NOT_SENT : tweet.sentUs()).putInt(tweet.hashtags().size());
        tweet.hashtags().forEach(block::putText);
    }

    static void unpack(byte[] block, Consumer<Tweet> consumer) {
        ByteBuffer packed = ByteBuffer.wrap(block);
        while (packed.hasRemaining()) {
            long id = packed.getLong();
            long createdMs = packed.getLong();
            long sentUs = packed.getLong();
            int count = packed.getInt();
            List<String> hashtags = new ArrayList<>(count);
            for (int index = 0; index < count; index++) {
                hashtags.add(Packing.text(packed));
            }
            consumer.accept(new Tweet(id, createdMs, sentUs == NOT_SENT ? null : sentUs, hashtags));
        }
    }
}
