// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common;

import io.github.murmuration.spark.common.read.StartingOffsets;
import java.io.Serializable;
import java.util.Arrays;
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
public abstract class EventOptions implements Serializable {
    private static final long serialVersionUID = 1L;

    public static final String NAMESPACE = "namespace";
    public static final String STREAM = "stream";
    public static final String STARTING_OFFSETS = "starting_offsets";
    public static final String MAX_EVENTS_PER_TRIGGER = "max_events_per_trigger";
    public static final String FAIL_ON_DATA_LOSS = "fail_on_data_loss";
    public static final String EXACTLY_ONCE = "exactly_once";

    private static final Set<String> OF_ALL = Set.of(
            NAMESPACE, STREAM, STARTING_OFFSETS, MAX_EVENTS_PER_TRIGGER, FAIL_ON_DATA_LOSS, EXACTLY_ONCE);
    /** Spark's own, which it hands on. */
    private static final Set<String> OF_SPARK = Set.of(
            "path", "paths", "checkpointlocation", "queryname", "asyncprogresstrackingenabled", "provider", "owner");

    private static final Set<String> WARNED_OF = ConcurrentHashMap.newKeySet();
    private static final Logger LOG = LoggerFactory.getLogger(EventOptions.class);

    private final String source;
    private final HashMap<String, String> values;

    /**
     * @param source the data source's name
     * @param ofSource names of the options that it has beside those of all
     */
    protected EventOptions(String source, Set<String> ofSource, Map<String, String> options) {
        this.source = source;
        values = lowered(options);
        values.keySet().stream()
                .filter(name -> !OF_ALL.contains(name) && !ofSource.contains(name) && !OF_SPARK.contains(name)
                        && !name.startsWith("option."))
                .filter(WARNED_OF::add)
                .forEach(name -> LOG.warn("the data source {} has no option {}", source, name));
    }

    public String namespace() {
        return text(NAMESPACE).orElseThrow(() -> new IllegalArgumentException("the option namespace is required"));
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

    public String description() {
        return source + " " + text(NAMESPACE).orElse("") + text(STREAM).map(stream -> "/" + stream).orElse("");
    }

    /** These options and others, which win. */
    protected final Map<String, String> merged(Map<String, String> others) {
        Map<String, String> merged = new HashMap<>(values);
        merged.putAll(lowered(others));
        return merged;
    }

    protected final Optional<String> text(String name) {
        return Optional.ofNullable(values.get(name)).filter(value -> !value.isBlank());
    }

    protected final boolean flag(String name, boolean unset) {
        String value = text(name).orElse(Boolean.toString(unset)).toLowerCase(Locale.ROOT);
        if (!value.equals("true") && !value.equals("false")) {
            throw new IllegalArgumentException("the option " + name + " is true or false, not " + value);
        }
        return value.equals("true");
    }

    protected static long positive(String name, String value) {
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

    protected static <T extends Enum<T>> T one(String name, String value, Class<T> of) {
        try {
            return Enum.valueOf(of, value.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException wrong) {
            String all = String.join(", ", Arrays.stream(of.getEnumConstants())
                    .map(each -> each.name().toLowerCase(Locale.ROOT)).toList());
            throw new IllegalArgumentException("the option " + name + " is one of " + all + ", not " + value);
        }
    }

    private static HashMap<String, String> lowered(Map<String, String> options) {
        HashMap<String, String> lowered = new HashMap<>();
        options.forEach((name, value) -> lowered.put(name.toLowerCase(Locale.ROOT), value));
        return lowered;
    }
}
