// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark;

import io.github.murmuration.pulsar.spark.client.EventStream;
import io.github.murmuration.pulsar.spark.read.StartingOffsets;
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
public final class PulsarOptions implements Serializable {
    private static final long serialVersionUID = 1L;

    public static final String SERVICE_URL = "service_url";
    public static final String ADMIN_URL = "admin_url";
    public static final String TENANT = "tenant";
    public static final String NAMESPACE = "namespace";
    public static final String STREAM = "stream";
    public static final String STARTING_OFFSETS = "starting_offsets";
    public static final String MAX_EVENTS_PER_TRIGGER = "max_events_per_trigger";
    public static final String FAIL_ON_DATA_LOSS = "fail_on_data_loss";
    public static final String EXACTLY_ONCE = "exactly_once";

    private static final Set<String> KNOWN = Set.of(
            SERVICE_URL, ADMIN_URL, TENANT, NAMESPACE, STREAM, STARTING_OFFSETS, MAX_EVENTS_PER_TRIGGER,
            FAIL_ON_DATA_LOSS, EXACTLY_ONCE);
    /** Spark's own, which it hands on. */
    private static final Set<String> OF_SPARK = Set.of(
            "path", "paths", "checkpointlocation", "queryname", "asyncprogresstrackingenabled", "provider", "owner");

    private static final Set<String> WARNED_OF = ConcurrentHashMap.newKeySet();
    private static final Logger LOG = LoggerFactory.getLogger(PulsarOptions.class);

    private final HashMap<String, String> values = new HashMap<>();

    public PulsarOptions(Map<String, String> options) {
        options.forEach((name, value) -> values.put(name.toLowerCase(Locale.ROOT), value));
        values.keySet().stream()
                .filter(name -> !KNOWN.contains(name) && !OF_SPARK.contains(name) && !name.startsWith("option."))
                .filter(WARNED_OF::add)
                .forEach(name -> LOG.warn("the data source pulsar has no option {}", name));
    }

    /** These options and others, which win. */
    public PulsarOptions with(Map<String, String> others) {
        HashMap<String, String> merged = new HashMap<>(values);
        others.forEach((name, value) -> merged.put(name.toLowerCase(Locale.ROOT), value));
        return new PulsarOptions(merged);
    }

    /** Of the broker, for clients. */
    public String serviceUrl() {
        return text(SERVICE_URL).orElse("pulsar://127.0.0.1:6650");
    }

    /** Of its administration, by HTTP. */
    public String adminUrl() {
        return text(ADMIN_URL).orElse("http://127.0.0.1:8080");
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
        return new EventStream(text(TENANT).orElse("murmur"), namespace(), name);
    }

    public Optional<StartingOffsets> startingOffsets() {
        return text(STARTING_OFFSETS).map(value -> one(STARTING_OFFSETS, value, StartingOffsets.class));
    }

    public OptionalLong maxEventsPerTrigger() {
        return text(MAX_EVENTS_PER_TRIGGER).map(value -> OptionalLong.of(positive(MAX_EVENTS_PER_TRIGGER, value)))
                .orElse(OptionalLong.empty());
    }

    public boolean failOnDataLoss() {
        return flag(FAIL_ON_DATA_LOSS, true);
    }

    /** @throws IllegalArgumentException if what this data source has not is asked for */
    public void requireAtLeastOnce() {
        if (flag(EXACTLY_ONCE, false)) {
            throw new IllegalArgumentException("the data source pulsar writes at least once: it has no exactly_once");
        }
    }

    public String description() {
        return "pulsar " + text(NAMESPACE).orElse("") + text(STREAM).map(stream -> "/" + stream).orElse("");
    }

    private Optional<String> text(String name) {
        return Optional.ofNullable(values.get(name)).filter(value -> !value.isBlank());
    }

    private boolean flag(String name, boolean unset) {
        String value = text(name).orElse(Boolean.toString(unset)).toLowerCase(Locale.ROOT);
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
