package murmuration.spark;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.util.LongAccumulator;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Counts each tweet once, and forgets a bucket when the watermark passes its end, of which a timer tells.
 *
 * <p>The watermark is that of the batch, which Spark keeps beside its offsets, so a batch that runs again decides
 * alike.
 */
final class CountingProcessor
        extends StatefulProcessor<Integer, Tuple2<Integer, byte[]>, Tuple3<byte[], String, String>> {
    private static final long serialVersionUID = 3;

    private final Counting counting;
    private final Parking parking;
    private final LongAccumulator behindWatermark;
    private transient CountedBuckets buckets;

    CountingProcessor(Counting counting, Parking parking, LongAccumulator behindWatermark) {
        this.counting = counting;
        this.parking = parking;
        this.behindWatermark = behindWatermark;
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        buckets = new CountedBuckets(
                counting,
                getHandle().getMapState("buckets", Encoders.LONG(), Encoders.BINARY(), TTLConfig.NONE()),
                getHandle()::registerTimer);
    }

    @Override
    public Iterator<Tuple3<byte[], String, String>> handleInputRows(
            Integer group, Iterator<Tuple2<Integer, byte[]>> blocks, TimerValues times) {
        long watermarkMs = times.getCurrentWatermarkInMs();
        List<Tuple3<byte[], String, String>> rows = new ArrayList<>();
        while (blocks.hasNext()) {
            TweetBlocks.unpack(
                    blocks.next()._2(),
                    tweet -> {
                        if (tweet.createdMs() > watermarkMs) {
                            buckets.add(tweet);
                        } else {
                            behindWatermark.add(1);
                        }
                    },
                    (position, event) -> rows.add(new Tuple3<>(event, position, parking.stream())));
        }
        rows.addAll(buckets.store(counting.shards().ofKey(group)));
        return CollectionConverters.asScala(rows.iterator());
    }

    @Override
    public Iterator<Tuple3<byte[], String, String>> handleExpiredTimer(
            Integer group, TimerValues times, ExpiredTimerInfo timer) {
        buckets.forget(timer.getExpiryTimeInMs());
        return CollectionConverters.asScala(Collections.emptyIterator());
    }
}
