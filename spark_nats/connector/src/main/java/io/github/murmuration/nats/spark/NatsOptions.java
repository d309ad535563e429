// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark;

import io.github.murmuration.nats.spark.client.EventStream;
import io.github.murmuration.nats.spark.read.StartingOffsets;
import io.github.murmuration.nats.spark.write.UnknownEpoch;
import java.io.Serializable;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The options of one read or write, typed. Each of the methods fails with what is wrong with its option. */
public final class NatsOptions implements Serializable {
    private static final long serialVersionUID = 1L;

    public static final String SERVERS = "servers";
    public static final String NAMESPACE = "namespace";
    public static final String STREAM = "stream";
    public static final String STARTING_OFFSETS = "starting_offsets";
    public static final String MAX_EVENTS_PER_TRIGGER = "max_events_per_trigger";
    public static final String FAIL_ON_DATA_LOSS = "fail_on_data_loss";
    public static final String EXACTLY_ONCE = "exactly_once";
    public static final String BATCH_EVENTS = "batch_events";
    public static final String ON_UNKNOWN_EPOCH = "on_unknown_epoch";

    private static final Set<String> KNOWN = Set.of(
            SERVERS, NAMESPACE, STREAM, STARTING_OFFSETS, MAX_EVENTS_PER_TRIGGER, FAIL_ON_DATA_LOSS, EXACTLY_ONCE,
            BATCH_EVENTS, ON_UNKNOWN_EPOCH);
    /** Spark's own, which it hands on. */
    private static final Set<String> OF_SPARK = Set.of(
            "path", "paths", "checkpointlocation", "queryname", "asyncprogresstrackingenabled", "provider", "owner");

    private static final Set<String> WARNED_OF = ConcurrentHashMap.newKeySet();
    private static final Logger LOG = LoggerFactory.getLogger(NatsOptions.class);

    private final HashMap<String, String> values = new HashMap<>();

    public NatsOptions(Map<String, String> options) {
        options.forEach((name, value) -> values.put(name.toLowerCase(Locale.ROOT), value));
        values.keySet().stream()
                .filter(name -> !KNOWN.contains(name) && !OF_SPARK.contains(name) && !name.startsWith("option."))
                .filter(WARNED_OF::add)
                .forEach(name -> LOG.warn("the data source nats has no option {}", name));
    }

    /** These options and others, which win. */
    public NatsOptions with(Map<String, String> others) {
        HashMap<String, String> merged = new HashMap<>(values);
        others.forEach((name, value) -> merged.put(name.toLowerCase(Locale.ROOT), value));
        return new NatsOptions(merged);
    }

    /** Addresses of servers, separated by commas. */
    public String servers() {
        return text(SERVERS).orElse("nats://127.0.0.1:4222");
    }

    public String namespace() {
        return text(NAMESPACE).orElseThrow(() -> new IllegalArgumentException("the option namespace is required"));
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

    public Optional<StartingOffsets> startingOffsets() {
        return text(STARTING_OFFSETS).map(value -> one(STARTING_OFFSETS, value, StartingOffsets.class));
    }

    public OptionalLong maxEventsPerTrigger() {
        return text(MAX_EVENTS_PER_TRIGGER).map(value -> OptionalLong.of(positive(MAX_EVENTS_PER_TRIGGER, value)))
                .orElse(OptionalLong.empty());
    }

    public boolean failOnDataLoss() {
        return flag(FAIL_ON_DATA_LOSS);
    }

    public boolean exactlyOnce() {
        return flag(EXACTLY_ONCE);
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

    public String description() {
        return "nats " + text(NAMESPACE).orElse("") + text(STREAM).map(stream -> "/" + stream).orElse("");
    }

    private Optional<String> text(String name) {
        return Optional.ofNullable(values.get(name)).filter(value -> !value.isBlank());
    }

    private boolean flag(String name) {
        String value = text(name).orElse("true").toLowerCase(Locale.ROOT);
        if (!value.equals("true") && !value.equals("false")) {
            throw new IllegalArgumentException("the option " + name + " is true or false, not " + value);
        }
        return value.equals("true");
    }

    private static long positive(String name, String value) {
        try {
            long number = Long.parseLong(value);
            if (number > 0) {
                return number;
            }
        } catch (NumberFormatException wrong) {
            // The same words for both.
        }
        throw new IllegalArgumentException("the option " + name + " is a whole number above 0, not " + value);
    }

    private static <T extends Enum<T>> T one(String name, String value, Class<T> of) {
        try {
            return Enum.valueOf(of, value.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException wrong) {
            String all = String.join(", ", java.util.Arrays.stream(of.getEnumConstants())
                    .map(each -> each.name().toLowerCase(Locale.ROOT)).toList());
            throw new IllegalArgumentException("the option " + name + " is one of " + all + ", not " + value);
        }
    }
}
