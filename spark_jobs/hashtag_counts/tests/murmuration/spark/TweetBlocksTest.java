package murmuration.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NoSuchElementException;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.util.LongAccumulator;
import org.junit.jupiter.api.Test;
import scala.Tuple3;

class TweetBlocksTest {
    private static final Parking PARKING = new Parking("enriched", "rejected", 4);
    private static final String GOOD = "{\"tweet_id\":%d,\"created_at\":\"1970-01-01T00:00:0%1$d.000Z\","
            + "\"late\":%b,\"hashtags\":[\"a\",\"ü\",\"a\"],"
            + "\"ingest\":{\"sent_at_us\":%1$d}}";

    private static final Shards ONE = new Shards(1);

    private final LongAccumulator parked = new LongAccumulator();
    private final List<Tweet> tweets = new ArrayList<>();
    private final List<String> events = new ArrayList<>();

    @Test
    void tweetsComeOutAsTheyWentIn() {
        List<Tuple3<Instant, Integer, byte[]>> blocks = read(tweet(1), tweet(3), GOOD.formatted(2, true));
        assertEquals(Instant.ofEpochSecond(3), blocks.get(0)._1());
        assertEquals(
                List.of(new Tweet(1, 1000, 1, List.of("a", "ü")), new Tweet(3, 3000, 3, List.of("a", "ü"))),
                tweets);
        assertEquals(List.of(), events);
    }

    @Test
    void unreadableEventsAreParkedOnceEachAndLoseNothingBeforeOrAfter() {
        List<Tuple3<Instant, Integer, byte[]>> blocks = read("x", tweet(1), "", null, tweet(2), "[1,2,3]");
        assertEquals(List.of(1L, 2L), tweets.stream().map(Tweet::id).toList());
        assertEquals(List.of("enriched/0/0", "enriched/0/2", "enriched/0/3", "enriched/0/5"), events);
        assertEquals(4, parked.value());
        assertEquals(4, blocks.stream().filter(block -> block._1().equals(Instant.EPOCH)).count());
    }

    @Test
    void manyTweetsAreSeveralBlocks() {
        List<Tuple3<Instant, Integer, byte[]>> blocks =
                read(Collections.nCopies(10_000, tweet(1)).toArray(String[]::new));
        assertTrue(blocks.size() > 1);
        assertEquals(10_000, tweets.size());
    }

    @Test
    void eachBlockIsOfTheShardOfItsTweets() {
        Shards three = new Shards(3);
        List<Tuple3<Instant, Integer, byte[]>> blocks =
                read(three, "x", tweet(1), tweet(2), tweet(3), tweet(4), tweet(5), tweet(6), tweet(1));
        assertEquals(7, tweets.size());
        assertEquals(List.of("enriched/0/0"), events);
        List<Integer> keys = new ArrayList<>();
        for (Tuple3<Instant, Integer, byte[]> block : blocks) {
            TweetBlocks.unpack(
                    block._3(),
                    tweet -> {
                        assertEquals(three.key(three.of(tweet.id())), block._2());
                        assertTrue(tweet.createdMs() <= block._1().toEpochMilli());
                    },
                    (position, event) -> assertEquals(three.key(0), block._2()));
            keys.add(block._2());
        }
        assertTrue(keys.stream().distinct().count() > 1);
    }

    @Test
    void nothingIsNoBlock() {
        TweetBlocks none = new TweetBlocks(Collections.emptyIterator(), ONE, PARKING, parked);
        assertFalse(none.hasNext());
        assertThrows(NoSuchElementException.class, none::next);
    }

    private static String tweet(int id) {
        return GOOD.formatted(id, false);
    }

    private List<Tuple3<Instant, Integer, byte[]>> read(String... written) {
        return read(ONE, written);
    }

    private List<Tuple3<Instant, Integer, byte[]>> read(Shards shards, String... written) {
        List<Row> rows = new ArrayList<>();
        for (String event : written) {
            byte[] bytes = event == null ? null : event.getBytes(StandardCharsets.UTF_8);
            rows.add(RowFactory.create(bytes, 0, (long) rows.size()));
        }
        List<Tuple3<Instant, Integer, byte[]>> blocks = new ArrayList<>();
        new TweetBlocks(rows.iterator(), shards, PARKING, parked).forEachRemaining(blocks::add);
        blocks.forEach(
                block -> TweetBlocks.unpack(block._3(), tweets::add, (position, event) -> events.add(position)));
        return blocks;
    }
}
