package murmuration.spark;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.apache.spark.sql.Row;
import org.apache.spark.util.LongAccumulator;
import scala.Tuple2;

/**
 * The events of a partition in blocks: the latest {@code created_at}, for the watermark, and what is in the block.
 *
 * <p>A block of tweets has, of each, its id, {@code created_at} in ms, {@code sent_at_us}, the number of
 * its hashtags and these. An event that cannot be read is a block of its own, without a date: its position and what is
 * written of it. The first byte of a block tells which of the two it is.
 */
final class TweetBlocks implements Iterator<Tuple2<Instant, byte[]>> {
    private static final int BLOCK_BYTES = 1 << 18;
    private static final byte TWEETS = 0;
    private static final byte PARKED = 1;
    private static final byte[] NOTHING = {};

    private final Iterator<Row> events;
    private final Parking parking;
    private final LongAccumulator parked;
    private Tweet next;
    private Row unreadable;

    /** @param events rows of an event, and its partition and offset; {@code parked} counts those that are unreadable */
    TweetBlocks(Iterator<Row> events, Parking parking, LongAccumulator parked) {
        this.events = events;
        this.parking = parking;
        this.parked = parked;
        advance();
    }

    @Override
    public boolean hasNext() {
        return next != null || unreadable != null;
    }

    @Override
    public Tuple2<Instant, byte[]> next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        return unreadable == null ? tweets() : parked();
    }

    private Tuple2<Instant, byte[]> tweets() {
        long latestMs = Long.MIN_VALUE;
        ByteArrayOutputStream block = new ByteArrayOutputStream(BLOCK_BYTES);
        try (DataOutputStream out = new DataOutputStream(block)) {
            out.writeByte(TWEETS);
            while (next != null && block.size() < BLOCK_BYTES) {
                latestMs = Math.max(latestMs, next.createdMs());
                write(next, out);
                advance();
            }
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return new Tuple2<>(Instant.ofEpochMilli(latestMs), block.toByteArray());
    }

    private Tuple2<Instant, byte[]> parked() {
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
        advance();
        return new Tuple2<>(Instant.EPOCH, block.toByteArray());
    }

    /** To the next event that counts or cannot be read. */
    private void advance() {
        next = null;
        unreadable = null;
        while (next == null && unreadable == null && events.hasNext()) {
            Row row = events.next();
            try {
                next = EnrichedEvent.read(row.getAs(0));
            } catch (UnreadableEventException noTweet) {
                unreadable = row;
            }
        }
    }

    private static void write(Tweet tweet, DataOutputStream out) throws IOException {
        out.writeLong(tweet.id());
        out.writeLong(tweet.createdMs());
        out.writeLong(tweet.sentUs());
        out.writeInt(tweet.hashtags().size());
        for (String hashtag : tweet.hashtags()) {
            Text.write(out, hashtag);
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
