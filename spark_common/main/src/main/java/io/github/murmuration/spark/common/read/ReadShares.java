// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.read;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/** Splits a number of events over the partitions. */
public final class ReadShares {
    private ReadShares() {
    }

    /**
     * In proportion to what each partition has, {@code limit} altogether, or all if that is less. What rounding leaves
     * goes to those that lost most by it.
     */
    public static long[] of(long limit, long[] available) {
        long total = Arrays.stream(available).sum();
        if (total <= limit) {
            return available.clone();
        }
        long[] shares = new long[available.length];
        long[] remainders = new long[available.length];
        for (int index = 0; index < available.length; index++) {
            BigInteger[] exact = BigInteger.valueOf(limit).multiply(BigInteger.valueOf(available[index]))
                    .divideAndRemainder(BigInteger.valueOf(total));
            shares[index] = exact[0].longValueExact();
            remainders[index] = exact[1].longValueExact();
        }
        long left = limit - Arrays.stream(shares).sum();
        IntStream.range(0, available.length).boxed()
                .sorted(Comparator.comparingLong((Integer index) -> -remainders[index]))
                .limit(left).forEach(index -> shares[index]++);
        return shares;
    }
}
