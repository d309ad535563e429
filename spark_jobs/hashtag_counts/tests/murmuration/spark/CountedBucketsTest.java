package murmuration.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;
import scala.Tuple3;

class CountedBucketsTest {
    private static final Counting COUNTING = new Counting(5000, 100_000, "counts");
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

    /** 200,000 tweets in 100 batches: neither numbers nor sizes of what is read, written and kept depend on the ids. */
    @Test
    void whatIdsLookLikeCostsNothing() {
        List<Long> snowflakes = cost(n -> (START + n / 2 - 1_288_834_974_657L) << 22 | n & 1);
        Random random = new Random(1);
        assertEquals(snowflakes, cost(n -> n + 1));
        assertEquals(snowflakes, cost(n -> random.nextLong() >>> 1));
    }

    /** Entries and bytes written, bytes kept. */
    private static List<Long> cost(LongUnaryOperator ids) {
        MapInMemory state = new MapInMemory();
        for (int batch = 0; batch < 100; batch++) {
            CountedBuckets buckets = new CountedBuckets(COUNTING, state, end -> { });
            for (long n = batch * 2000L; n < (batch + 1) * 2000L; n++) {
                buckets.add(tweet(ids.applyAsLong(n), START + n / 2));
            }
            buckets.store();
        }
        return List.of((long) state.writes(), state.bytesWritten(), state.bytes());
    }

    /** The counts of whole buckets that a batch of these tweets tells of. */
    private List<String> counts(Tweet... tweets) {
        CountedBuckets buckets = new CountedBuckets(COUNTING, state, timers::add);
        List.of(tweets).forEach(buckets::add);
        List<String> counts = new ArrayList<>();
        for (Tuple3<byte[], String, String> row : buckets.store()) {
            assertEquals("counts", row._3());
            String event = new String(row._1(), StandardCharsets.UTF_8);
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
