// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.read;

import io.nats.client.support.JsonParseException;
import io.nats.client.support.JsonParser;
import io.nats.client.support.JsonValue;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.sql.connector.read.streaming.Offset;

/** For each partition the sequence of the first event that is not read yet, as JSON {@code {"0":17,"1":4}}. */
final class NatsOffset extends Offset {
    private final long[] next;

    NatsOffset(long[] next) {
        this.next = next.clone();
    }

    static NatsOffset of(Offset offset) {
        return offset instanceof NatsOffset own ? own : fromJson(offset.json());
    }

    /** @throws IllegalArgumentException if it is no offset of this source */
    static NatsOffset fromJson(String json) {
        try {
            Map<String, JsonValue> values = JsonParser.parse(json).map;
            long[] next = new long[values.size()];
            for (int partition = 0; partition < next.length; partition++) {
                JsonValue value = values.get(Integer.toString(partition));
                next[partition] = value.number.longValue();
            }
            return new NatsOffset(next);
        } catch (JsonParseException | NullPointerException wrong) {
            throw new IllegalArgumentException("no offset of a NATS stream: " + json, wrong);
        }
    }

    int partitions() {
        return next.length;
    }

    /** A partition that came after this offset begins with its first event. */
    long next(int partition, long first) {
        return partition < next.length ? next[partition] : first;
    }

    long[] all() {
        return next.clone();
    }

    @Override
    public String json() {
        return IntStream.range(0, next.length).mapToObj(partition -> "\"" + partition + "\":" + next[partition])
                .collect(Collectors.joining(",", "{", "}"));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof NatsOffset offset && Arrays.equals(next, offset.next);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(next);
    }
}
