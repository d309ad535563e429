package murmuration.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.jdk.javaapi.CollectionConverters;

class ShardsTest {
    /** Asked of Spark's own partitioning: a library's update that hashes otherwise fails here. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 7, 16, 64})
    void sparkPutsEachShardIntoATaskOfItsOwn(int number) {
        Shards shards = new Shards(number);
        for (int shard = 0; shard < number; shard++) {
            List<Expression> key = List.of(new Literal(shards.key(shard), DataTypes.IntegerType));
            HashPartitioning spark = new HashPartitioning(CollectionConverters.asScala(key).toSeq(), number);
            assertEquals(shard, spark.partitionIdExpression().eval(null));
            assertEquals(shard, shards.ofKey(shards.key(shard)));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 7})
    void idsAreSpreadEvenlyWhateverTheirLowBits(int number) {
        Shards shards = new Shards(number);
        for (int step : new int[] {1, 4096, 1 << 22}) {
            int[] tweets = new int[number];
            for (long id = 1_857_724_163_526_508_544L, left = 20_000; left > 0; id += step, left--) {
                tweets[shards.of(id)]++;
            }
            for (int some : tweets) {
                assertTrue(Math.abs(some - 20_000 / number) < 1000, number + " shards, steps of " + step);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE, Long.MAX_VALUE})
    void everyIdHasAShard(long id) {
        int shard = new Shards(3).of(id);
        assertTrue(shard >= 0 && shard < 3);
    }
}
