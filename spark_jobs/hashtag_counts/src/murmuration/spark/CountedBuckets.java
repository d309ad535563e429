package murmuration.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import scala.Tuple2;

/** The counts of all buckets whose end the watermark has not passed. State: by start of the bucket, BucketCounts. */
final class CountedBuckets {
    private final Counting counting;
    private final StateMap buckets;
    private final Agenda agenda;
    private final Map<Long, BucketCounts> touched = new HashMap<>();

    CountedBuckets(Counting counting, StateMap buckets, Agenda agenda) {
        this.counting = counting;
        this.buckets = buckets;
        this.agenda = agenda;
    }

    void add(Tweet tweet) {
        touched.computeIfAbsent(counting.bucketOf(tweet.createdMs()), this::load).add(tweet);
    }

    private BucketCounts load(long startMs) {
        byte[] packed = buckets.get(startMs);
        if (packed == null) {
            agenda.add(startMs + counting.bucketMs());
            return new BucketCounts(counting);
        }
        return new BucketCounts(counting, packed);
    }

    /** Stores what was added; the events and keys that tell of it. */
    List<Tuple2<byte[], String>> store() {
        List<Tuple2<byte[], String>> rows = new ArrayList<>();
        touched.forEach((startMs, counts) -> {
            buckets.put(startMs, counts.toBytes());
            counts.forEachChanged((hashtag, count) -> rows.add(
                    new Tuple2<>(CountEvent.write(startMs, counting.bucketMs(), hashtag, count), hashtag)));
        });
        touched.clear();
        return rows;
    }

    void forget(long bucketEndMs) {
        buckets.remove(bucketEndMs - counting.bucketMs());
    }
}
