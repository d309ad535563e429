// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.write;

import io.github.murmuration.pulsar.spark.client.EventStream;
import io.github.murmuration.pulsar.spark.client.Streams;
import java.io.Serializable;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** How many partitions target streams have; looked up once in each JVM for each run of a query or batch. */
record PartitionCounts(String run) implements Serializable {
    private static final int KEPT = 1000;
    private static final Map<String, Integer> KNOWN = new ConcurrentHashMap<>();

    int of(Streams streams, EventStream stream) {
        String name = run + " " + stream;
        Integer known = KNOWN.get(name);
        if (known == null) {
            if (KNOWN.size() >= KEPT) {
                KNOWN.clear();
            }
            known = streams.describe(stream).partitions();
            KNOWN.put(name, known);
        }
        return known;
    }
}
