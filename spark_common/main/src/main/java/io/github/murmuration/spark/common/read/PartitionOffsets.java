// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.read;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Arrays;
import org.apache.spark.sql.connector.read.streaming.Offset;

/**
 * For each partition of a stream the offset of the first event that is not read yet, as JSON
 * {@code {"life":"…","next":[17,4]}}. The life tells the stream from a later one of its name.
 */
public final class PartitionOffsets extends Offset {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final String life;
    private final long[] next;

    public PartitionOffsets(String life, long[] next) {
        this.life = life;
        this.next = next.clone();
    }

    public static PartitionOffsets of(Offset offset) {
        return offset instanceof PartitionOffsets own ? own : fromJson(offset.json());
    }

    /** @throws IllegalArgumentException if it is no offset of this source */
    public static PartitionOffsets fromJson(String json) {
        try {
            JsonNode value = JSON.readTree(json);
            JsonNode life = value.path("life");
            JsonNode values = value.path("next");
            long[] next = new long[values.size()];
            boolean isOne = life.isTextual() && values.isArray();
            for (int partition = 0; isOne && partition < next.length; partition++) {
                isOne = values.get(partition).canConvertToLong();
                next[partition] = values.get(partition).longValue();
            }
            if (!isOne) {
                throw new IllegalArgumentException("no offset of a stream: " + json);
            }
            return new PartitionOffsets(life.textValue(), next);
        } catch (JsonProcessingException wrong) {
            throw new IllegalArgumentException("no offset of a stream: " + json, wrong);
        }
    }

    public String life() {
        return life;
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

    /** Others of the same stream. */
    public PartitionOffsets with(long[] others) {
        return new PartitionOffsets(life, others);
    }

    public boolean isOfSameLife(PartitionOffsets other) {
        return life.equals(other.life);
    }

    @Override
    public String json() {
        try {
            return JSON.writeValueAsString(JSON.createObjectNode().put("life", life).putPOJO("next", next));
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PartitionOffsets offset && isOfSameLife(offset) && Arrays.equals(next, offset.next);
    }

    @Override
    public int hashCode() {
        return 31 * life.hashCode() + Arrays.hashCode(next);
    }
}
