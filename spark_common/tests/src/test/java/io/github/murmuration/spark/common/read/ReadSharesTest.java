// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.read;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("core")
class ReadSharesTest {
    @Test
    void allIsReadThatIsNotMoreThanTheLimit() {
        assertArrayEquals(new long[] {3, 0, 4}, ReadShares.of(7, new long[] {3, 0, 4}));
    }

    @Test
    void theLimitIsSharedInProportion() {
        assertArrayEquals(new long[] {70, 30, 0}, ReadShares.of(100, new long[] {700, 300, 0}));
        assertArrayEquals(new long[] {0, 1}, ReadShares.of(1, new long[] {1, 10}));
    }

    @Test
    void theLimitIsUsedUpAndNoneGetsMoreThanItHas() {
        Random random = new Random(7);
        for (int round = 0; round < 1000; round++) {
            long[] available = random.longs(1 + random.nextInt(8), 0, 1L << random.nextInt(50)).toArray();
            long limit = 1 + random.nextInt(1000);
            long[] shares = ReadShares.of(limit, available);
            assertEquals(Math.min(limit, Arrays.stream(available).sum()), Arrays.stream(shares).sum());
            for (int index = 0; index < shares.length; index++) {
                assertTrue(shares[index] >= 0 && shares[index] <= available[index]);
            }
        }
    }
}
