package murmuration.spark;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.apache.spark.sql.Row;
import org.apache.spark.util.LongAccumulator;
import scala.Tuple3;

/**
 * The events of a partition in blocks, each of one shard: the latest {@code created_at}, for the watermark, the key of
 * the shard, and what is in the block.
 *
 * <p>A block of tweets has, of each, its id, {@code created_at} in ms, {@code sent_at_us}, the number of
 * its hashtags and these. An event that cannot be read is a block of its own, without a date: its position and what is
 * written of it. The first byte of a block tells which of the two it is.
 */
final class TweetBlocks implements Iterator<Tuple3<Instant, Integer, byte[]>> {
    private static final int BLOCK_BYTES = 1 << 18;
    private static final byte TWEETS = 0;
    private static final byte PARKED = 1;
    private static final byte[] NOTHING = {};

    private final Iterator<Row> events;
    private final Shards shards;
    private final Parking parking;
    private final LongAccumulator parked;
    private final Open[] open;
    private final Queue<Tuple3<Instant, Integer, byte[]>> complete = new ArrayDeque<>();

    /** @param events rows of an event, and its partition and offset; {@code parked} counts those that are unreadable */
    TweetBlocks(Iterator<Row> events, Shards shards, Parking parking, LongAccumulator parked) {
        this.events = events;
        this.shards = shards;
        this.parking = parking;
        this.parked = parked;
        open = new Open[shards.number()];
    }

    @Override
    public boolean hasNext() {
        while (complete.isEmpty() && events.hasNext()) {
            take(events.next());
        }
        for (int shard = 0; complete.isEmpty() && shard < open.length; shard++) {
            complete(shard);
        }
        return !complete.isEmpty();
    }

    @Override
    public Tuple3<Instant, Integer, byte[]> next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        return complete.remove();
    }

    private void take(Row row) {
        try {
            Tweet tweet = EnrichedEvent.read(row.getAs(0));
            if (tweet == null) {
                return;
            }
            int shard = shards.of(tweet.id());
            if (open[shard] == null) {
                open[shard] = new Open();
            }
            open[shard].add(tweet);
            if (open[shard].isFull()) {
                complete(shard);
            }
        } catch (UnreadableEventException noTweet) {
            complete.add(new Tuple3<>(Instant.EPOCH, shards.key(0), parked(row)));
        }
    }

    private void complete(int shard) {
        if (open[shard] != null) {
            complete.add(new Tuple3<>(
                    Instant.ofEpochMilli(open[shard].latestMs), shards.key(shard), open[shard].bytes.toByteArray()));
            open[shard] = null;
        }
    }

    private byte[] parked(Row unreadable) {
        byte[] event = unreadable.isNullAt(0) ? NOTHING : unreadable.getAs(0);
        String position = parking.position(unreadable.get(1), unreadable.get(2));
        byte[] rejected = parking.rejected(event, position, Instant.now());
        ByteArrayOutputStream block = new ByteArrayOutputStream(rejected.length);
        try (DataOutputStream out = new DataOutputStream(block)) {
            out.writeByte(PARKED);
            Text.write(out, position);
            out.write(rejected);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        parked.add(1);
        return block.toByteArray();
    }

    /** A block to which tweets are still added. */
    private static final class Open {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(BLOCK_BYTES);
        private final DataOutputStream out = new DataOutputStream(bytes);
        private long latestMs = Long.MIN_VALUE;

        void add(Tweet tweet) {
            try {
                if (bytes.size() == 0) {
                    out.writeByte(TWEETS);
                }
                out.writeLong(tweet.id());
                out.writeLong(tweet.createdMs());
                out.writeLong(tweet.sentUs());
                out.writeInt(tweet.hashtags().size());
                for (String hashtag : tweet.hashtags()) {
                    Text.write(out, hashtag);
                }
            } catch (IOException impossible) {
                throw new UncheckedIOException(impossible);
            }
            latestMs = Math.max(latestMs, tweet.createdMs());
        }

        boolean isFull() {
            return bytes.size() >= BLOCK_BYTES;
        }
    }

    /** Gives the tweets of a block to the first; position and event to be written to the second. */
    static void unpack(byte[] block, Consumer<Tweet> tweets, BiConsumer<String, byte[]> parked) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(block))) {
            if (in.readByte() == PARKED) {
                parked.accept(Text.read(in), in.readAllBytes());
            }
            while (in.available() > 0) {
                tweets.accept(read(in));
            }
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    private static Tweet read(DataInputStream in) throws IOException {
        long id = in.readLong();
        long createdMs = in.readLong();
        long sentUs = in.readLong();
        int count = in.readInt();
        List<String> hashtags = new ArrayList<>(count);
        for (int index = 0; index < count; index++) {
            hashtags.add(Text.read(in));
        }
        return new Tweet(id, createdMs, sentUs, hashtags);
    }
}
