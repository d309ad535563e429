package murmuration.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import org.apache.spark.sql.streaming.MapState;
import scala.Tuple3;

/**
 * All buckets whose end the watermark has not passed. State: by start of the bucket, its {@link BucketCounts}.
 *
 * <p>A batch reads and writes the buckets that it touches, each as a whole.
 */
final class CountedBuckets {
    private final Counting counting;
    private final MapState<Long, byte[]> state;
    private final LongConsumer registerTimer;
    private final Map<Long, BucketCounts> touched = new HashMap<>();

    /** @param registerTimer is told the end of each new bucket, which is when to {@link #forget} it */
    CountedBuckets(Counting counting, MapState<Long, byte[]> state, LongConsumer registerTimer) {
        this.counting = counting;
        this.state = state;
        this.registerTimer = registerTimer;
    }

    void add(Tweet tweet) {
        touched.computeIfAbsent(counting.bucketOf(tweet.createdMs()), this::load).add(tweet);
    }

    private BucketCounts load(long startMs) {
        byte[] stored = state.getValue(startMs);
        if (stored == null) {
            registerTimer.accept(startMs + counting.bucketMs());
            return new BucketCounts(counting);
        }
        return new BucketCounts(counting, stored);
    }

    /** Stores what was added, all of it of that shard; the rows that tell of it. */
    List<Tuple3<byte[], String, String>> store(int shard) {
        List<Tuple3<byte[], String, String>> rows = new ArrayList<>();
        touched.forEach((startMs, counts) -> {
            if (counts.isChanged()) {
                state.updateValue(startMs, counts.toBytes());
                counts.forEachChanged((kind, hashtag, count) -> rows.add(new Tuple3<>(
                        CountEvent.write(startMs, counting, shard, kind, hashtag, count), hashtag,
                        counting.stream())));
            }
        });
        touched.clear();
        return rows;
    }

    void forget(long bucketEndMs) {
        state.removeKey(bucketEndMs - counting.bucketMs());
    }
}
