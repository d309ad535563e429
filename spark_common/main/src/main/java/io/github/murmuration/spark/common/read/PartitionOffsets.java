// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.read;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.sql.connector.read.streaming.Offset;

/** For each partition the offset of the first event that is not read yet, as JSON {@code {"0":17,"1":4}}. */
public final class PartitionOffsets extends Offset {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final long[] next;

    public PartitionOffsets(long[] next) {
        this.next = next.clone();
    }

    public static PartitionOffsets of(Offset offset) {
        return offset instanceof PartitionOffsets own ? own : fromJson(offset.json());
    }

    /** @throws IllegalArgumentException if it is no offset of this source */
    public static PartitionOffsets fromJson(String json) {
        try {
            JsonNode values = JSON.readTree(json);
            long[] next = new long[values.size()];
            for (int partition = 0; partition < next.length; partition++) {
                JsonNode value = values.path(Integer.toString(partition));
                if (!value.canConvertToLong()) {
                    throw new IllegalArgumentException("no offset of a stream: " + json);
                }
                next[partition] = value.longValue();
            }
            return new PartitionOffsets(next);
        } catch (JsonProcessingException wrong) {
            throw new IllegalArgumentException("no offset of a stream: " + json, wrong);
        }
    }

    public int partitions() {
        return next.length;
    }

    /** A partition that came after this offset begins with its first event. */
    public long next(int partition, long first) {
        return partition < next.length ? next[partition] : first;
    }

    public long[] all() {
        return next.clone();
    }

    @Override
    public String json() {
        return IntStream.range(0, next.length).mapToObj(partition -> "\"" + partition + "\":" + next[partition])
                .collect(Collectors.joining(",", "{", "}"));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PartitionOffsets offset && Arrays.equals(next, offset.next);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(next);
    }
}
