package murmuration.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import scala.Tuple3;

class CountedBucketsTest {
    private static final Counting COUNTING = new Counting(5000, 100_000, "counts", new Shards(3));
    private static final long START = 1_800_000_000_000L;

    private final MapInMemory state = new MapInMemory();
    private final List<Long> timers = new ArrayList<>();

    @Test
    void aRepeatCountsOnceInItsBucket() {
        assertEquals(List.of("1"), counts(tweet(1, START), tweet(1, START), tweet(1, START + 4999)));
        assertEquals(List.of(), counts(tweet(1, START)));
        assertEquals(List.of("1"), counts(tweet(1, START + 5000)));
        assertEquals(List.of("2"), counts(tweet(2, START)));
    }

    @Test
    void nothingNewIsNotWritten() {
        counts(tweet(1, START));
        counts(tweet(1, START));
        assertEquals(1, state.writes());
    }

    @Test
    void eachBucketHasOneTimerAtItsEndAndIsGoneThen() {
        counts(tweet(1, START), tweet(2, START + 4999), tweet(3, START + 5000));
        counts(tweet(4, START));
        assertEquals(List.of(START + 5000, START + 10_000), timers.stream().sorted().toList());
        new CountedBuckets(COUNTING, state, timers::add).forget(START + 5000);
        assertEquals(1, state.size());
    }

    @Test
    void bucketsBefore1970BeginBeforeTheirTweets() {
        counts(tweet(1, -1));
        assertEquals(List.of(0L), timers);
    }

    /** The counts of whole buckets that a batch of these tweets tells of. */
    private List<String> counts(Tweet... tweets) {
        CountedBuckets buckets = new CountedBuckets(COUNTING, state, timers::add);
        List.of(tweets).forEach(buckets::add);
        List<String> counts = new ArrayList<>();
        for (Tuple3<byte[], String, String> row : buckets.store(2)) {
            assertEquals("counts", row._3());
            String event = new String(row._1(), StandardCharsets.UTF_8);
            assertTrue(event.contains("\"shards\":3,\"shard\":2,"), event);
            if (event.startsWith("{\"kind\":\"bucket\"")) {
                counts.add(event.replaceAll(".*\"count\":(\\d+).*", "$1"));
            }
        }
        return counts;
    }

    private static Tweet tweet(long id, long createdMs) {
        return new Tweet(id, createdMs, createdMs < 0 ? 0 : createdMs * 1000, List.of());
    }
}
