package murmuration.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TweetIdsTest {
    @Test
    void eachIsAddedOnceWhateverItsBits() {
        long[] odd = {0, 1, -1, 1L << 31, 1L << 32, (1L << 32) + 1, Long.MAX_VALUE, Long.MIN_VALUE};
        TweetIds ids = new TweetIds();
        for (long id : odd) {
            assertTrue(ids.add(id));
        }
        for (long id : odd) {
            assertFalse(ids.add(id));
        }
        assertEquals(odd.length, ids.size());
    }

    /** Few different ids of many, so that repeats are as frequent as new ones; packed and read again now and then. */
    @Test
    void isASetEvenIfItIsReadAgain() {
        Random random = new Random(1);
        for (int shift : new int[] {0, 22, 50}) {
            Set<Long> expected = new HashSet<>();
            TweetIds ids = new TweetIds();
            for (int n = 0; n < 20_000; n++) {
                long id = (long) random.nextInt(10_000) << shift;
                assertEquals(expected.add(id), ids.add(id));
                ids = n % 777 == 0 ? again(ids) : ids;
            }
            assertEquals(expected.size(), ids.size());
        }
    }

    /**
     * Whose products with the golden ratio, a usual multiplier, are 1, 2, 3, …: all of them want the first place, and a
     * look passes over half of them. With another one it passes over a tenth of them about once in 25,000 runs.
     */
    @Test
    void chosenIdsTakeNoLongerThanOthers() {
        int count = 100_000;
        long inverse = 1;
        for (int doubled = 0; doubled < 6; doubled++) {
            inverse *= 2 - 0x9E3779B97F4A7C15L * inverse; // Newton: twice as many bits are right each time
        }
        assertEquals(1, 0x9E3779B97F4A7C15L * inverse);
        TweetIds ids = new TweetIds();
        for (long n = 1; n <= count; n++) {
            assertTrue(ids.add(n * inverse));
        }
        assertTrue(ids.steps() < count / 10, () -> "steps: " + ids.steps());
    }

    @Test
    void whatFollowsIsNotRead() {
        Packing packed = new Packing(0);
        new TweetIds().pack(packed);
        ByteBuffer bytes = ByteBuffer.wrap(packed.putLong(7).toBytes());
        assertEquals(0, new TweetIds(bytes).size());
        assertEquals(7, bytes.getLong());
    }

    private static TweetIds again(TweetIds ids) {
        Packing packed = new Packing(0);
        ids.pack(packed);
        return new TweetIds(ByteBuffer.wrap(packed.toBytes()));
    }
}
