package murmuration.spark;

import java.time.Instant;
import java.util.Collections;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Counts each tweet once, and forgets when the watermark passes: a timer at the end of each bucket in use asks for it.
 *
 * <p>The watermark is that of the batch, which Spark keeps beside its offsets, so a batch that runs again decides
 * alike. Spark's own filter of late rows sees a block by its latest tweet only; here each tweet is judged.
 */
final class CountingProcessor extends StatefulProcessor<Integer, Tuple2<Instant, byte[]>, Tuple2<byte[], String>> {
    private static final long serialVersionUID = 1;
    private static final int AGENDA = 0;
    private static final int IDS = 1;
    private static final int BUCKETS = 2;

    private final Counting counting;
    private transient RememberedIds ids;
    private transient CountedBuckets buckets;

    CountingProcessor(Counting counting) {
        this.counting = counting;
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        MapState<Long, byte[]> state =
                getHandle().getMapState("state", Encoders.LONG(), Encoders.BINARY(), TTLConfig.NONE());
        Agenda agenda = new Agenda(new StateMap(state, AGENDA), getHandle()::registerTimer);
        ids = new RememberedIds(counting, new StateMap(state, IDS), agenda);
        buckets = new CountedBuckets(counting, new StateMap(state, BUCKETS), agenda);
    }

    @Override
    public Iterator<Tuple2<byte[], String>> handleInputRows(
            Integer group, Iterator<Tuple2<Instant, byte[]>> blocks, TimerValues times) {
        long watermarkMs = times.getCurrentWatermarkInMs();
        while (blocks.hasNext()) {
            TweetBlocks.unpack(blocks.next()._2(), tweet -> {
                if (tweet.createdMs() > watermarkMs && ids.add(tweet)) {
                    buckets.add(tweet);
                }
            });
        }
        ids.store();
        return CollectionConverters.asScala(buckets.store().iterator());
    }

    @Override
    public Iterator<Tuple2<byte[], String>> handleExpiredTimer(
            Integer group, TimerValues times, ExpiredTimerInfo timer) {
        long bucketEndMs = timer.getExpiryTimeInMs();
        buckets.forget(bucketEndMs);
        ids.forget(bucketEndMs, times.getCurrentWatermarkInMs());
        return CollectionConverters.asScala(Collections.emptyIterator());
    }
}
