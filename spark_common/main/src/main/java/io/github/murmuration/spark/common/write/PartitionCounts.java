// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.write;

import java.io.Serializable;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;

/** How many partitions target streams have; looked up once in each JVM for each run of a query or batch. */
public record PartitionCounts(String run) implements Serializable {
    private static final int KEPT = 1000;
    private static final Map<String, Integer> KNOWN = new ConcurrentHashMap<>();

    public static PartitionCounts ofNewRun() {
        return new PartitionCounts(UUID.randomUUID().toString());
    }

    /** @param counted what yields the stream's number of partitions, where it is not known yet */
    public int of(Object stream, IntSupplier counted) {
        String name = run + " " + stream;
        Integer known = KNOWN.get(name);
        if (known == null) {
            if (KNOWN.size() >= KEPT) {
                KNOWN.clear();
            }
            known = counted.getAsInt();
            KNOWN.put(name, known);
        }
        return known;
    }
}
