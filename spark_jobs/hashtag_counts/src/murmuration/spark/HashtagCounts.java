package murmuration.spark;

import java.time.Instant;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import scala.Tuple2;

/**
 * What {@code transforms.count_hashtags} runs: one stateful operator that drops repeats and counts.
 *
 * <p>Spark's own operator keeps a row of state for every tweet id, and looks through all of them in every micro-batch
 * to find those that may be forgotten. Here an id is four bytes of a large value, and a batch touches a handful of
 * these.
 *
 * <p>All tweets form one group, so one task parses and counts them all, which makes the counts whole: what one core does
 * is the bound. Partitions are coalesced first, which leaves nothing to shuffle and saves a stage of each micro-batch.
 * Tweets go from parsing to counting in blocks of thousands, so that Spark has next to nothing to encode and sort.
 */
public final class HashtagCounts {
    private static final String CREATED_AT = "_1";

    private HashtagCounts() {}

    /**
     * Rows (event, key) for {@code hashtag-counts}.
     *
     * @param enriched one binary column, the events of {@code tweets-enriched}
     * @param delaySeconds of the watermark, and how long an id is remembered
     * @param total the hashtag that stands for every tweet
     */
    public static Dataset<Row> of(
            Dataset<Row> enriched, int delaySeconds, int bucketSeconds, long slotUs, String total) {
        Counting counting = new Counting(delaySeconds * 1000L, bucketSeconds * 1000L, slotUs, total);
        MapPartitionsFunction<byte[], Tuple2<Instant, byte[]>> parse = TweetBlocks::new;
        MapFunction<Tuple2<Instant, byte[]>, Integer> oneGroup = block -> 0;
        return enriched.as(Encoders.BINARY())
                .mapPartitions(parse, Encoders.tuple(Encoders.INSTANT(), Encoders.BINARY()))
                .withWatermark(CREATED_AT, delaySeconds + " seconds")
                .coalesce(1)
                .groupByKey(oneGroup, Encoders.INT())
                .transformWithState(new CountingProcessor(counting), TimeMode.EventTime(), OutputMode.Update(),
                        Encoders.tuple(Encoders.BINARY(), Encoders.STRING()))
                .toDF("event", "key");
    }
}
