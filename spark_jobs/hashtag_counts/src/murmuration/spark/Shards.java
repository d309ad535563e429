package murmuration.spark;

import java.io.Serializable;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;

/**
 * How tweets are shared between the tasks that count: each belongs to one shard for ever, by a hash of its id, so that
 * its repeats come to the task that knows it.
 *
 * <p>Spark chooses a task by its own hash of a group's key. The keys here are those that it spreads evenly, one shard a
 * task, where there are as many partitions as shards.
 */
public final class Shards implements Serializable {
    private static final long serialVersionUID = 1;
    private static final int SPARK_SEED = 42;
    private static final int SEED = 7;

    private final int[] keys;

    /** @param number of shards, from 1 on */
    public Shards(int number) {
        keys = new int[number];
        for (int shard = 0; shard < number; shard++) {
            while (Math.floorMod(Murmur3_x86_32.hashInt(keys[shard], SPARK_SEED), number) != shard) {
                keys[shard]++;
            }
        }
    }

    int number() {
        return keys.length;
    }

    /** Its shard. Another hash than Spark's: shards would else follow the partitions of whoever hashed ids before. */
    int of(long tweetId) {
        return keys.length == 1 ? 0 : Math.floorMod(Murmur3_x86_32.hashLong(tweetId, SEED), keys.length);
    }

    /** Key of the shard's group. */
    int key(int shard) {
        return keys[shard];
    }

    /** The shard whose group has that key. */
    int ofKey(int key) {
        return Math.floorMod(Murmur3_x86_32.hashInt(key, SPARK_SEED), keys.length);
    }
}
