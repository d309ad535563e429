// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark;

import io.github.murmuration.nats.spark.client.EventStream;
import io.github.murmuration.nats.spark.write.UnknownEpoch;
import io.github.murmuration.spark.common.EventOptions;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The options of one read or write, typed. Each of the methods fails with what is wrong with its option. */
public final class NatsOptions extends EventOptions {
    private static final long serialVersionUID = 1L;

    public static final String SERVERS = "servers";
    public static final String BATCH_EVENTS = "batch_events";
    public static final String ON_UNKNOWN_EPOCH = "on_unknown_epoch";

    private static final Set<String> OWN = Set.of(SERVERS, BATCH_EVENTS, ON_UNKNOWN_EPOCH);

    public NatsOptions(Map<String, String> options) {
        super("nats", OWN, options);
    }

    /** These options and others, which win. */
    public NatsOptions with(Map<String, String> others) {
        return new NatsOptions(merged(others));
    }

    /** Addresses of servers, separated by commas. */
    public String servers() {
        return text(SERVERS).orElse("nats://127.0.0.1:4222");
    }

    /** The stream that is read. */
    public EventStream stream() {
        return target().orElseThrow(() -> new IllegalArgumentException("the option stream is required"));
    }

    /** The stream of all rows that are written, if it is not the rows that name it. */
    public Optional<EventStream> target() {
        return text(STREAM).map(this::stream);
    }

    /** @throws IllegalArgumentException if no stream can have this name */
    public EventStream stream(String name) {
        return new EventStream(namespace(), name);
    }

    public boolean exactlyOnce() {
        return flag(EXACTLY_ONCE, true);
    }

    /** How many messages an atomic batch takes at most. */
    public int batchEvents() {
        long events = text(BATCH_EVENTS).map(value -> positive(BATCH_EVENTS, value)).orElse(10_000L);
        return (int) Math.min(events, Integer.MAX_VALUE);
    }

    public UnknownEpoch onUnknownEpoch() {
        return text(ON_UNKNOWN_EPOCH).map(value -> one(ON_UNKNOWN_EPOCH, value, UnknownEpoch.class))
                .orElse(UnknownEpoch.FAIL);
    }
}
