// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What options are used for. One that does nothing where it is given is told in the log, once. */
public enum OptionUse {
    BATCH_READ, STREAMING_READ, BATCH_WRITE, STREAMING_WRITE;

    private static final Logger LOG = LoggerFactory.getLogger(OptionUse.class);
    private static final Set<String> TOLD = ConcurrentHashMap.newKeySet();

    /** Options that are not here are of use everywhere. */
    private static final Map<String, Set<OptionUse>> OF = Map.ofEntries(
            Map.entry(PravegaOptions.START_STREAM_CUT, EnumSet.of(BATCH_READ, STREAMING_READ)),
            Map.entry(PravegaOptions.END_STREAM_CUT, EnumSet.of(BATCH_READ, STREAMING_READ)),
            Map.entry(PravegaOptions.FAIL_ON_DATA_LOSS, EnumSet.of(BATCH_READ, STREAMING_READ)),
            Map.entry(PravegaOptions.MAX_EVENTS_PER_TRIGGER, EnumSet.of(STREAMING_READ)),
            Map.entry(PravegaOptions.MAX_BYTES_PER_TRIGGER, EnumSet.of(STREAMING_READ)),
            Map.entry(PravegaOptions.APPROX_BYTES_PER_TRIGGER, EnumSet.of(STREAMING_READ)),
            Map.entry(PravegaOptions.EXACTLY_ONCE, EnumSet.of(BATCH_WRITE, STREAMING_WRITE)),
            Map.entry(PravegaOptions.READ_AFTER_WRITE_CONSISTENCY, EnumSet.of(BATCH_WRITE, STREAMING_WRITE)),
            Map.entry(PravegaOptions.TRANSACTION_TIMEOUT_MS, EnumSet.of(BATCH_WRITE, STREAMING_WRITE)),
            Map.entry(PravegaOptions.TRANSACTION_STATUS_POLL_INTERVAL_MS, EnumSet.of(BATCH_WRITE, STREAMING_WRITE)),
            Map.entry(PravegaOptions.ON_UNKNOWN_EPOCH, EnumSet.of(BATCH_WRITE, STREAMING_WRITE)),
            Map.entry(PravegaOptions.TXN_APP_ID, EnumSet.of(BATCH_WRITE)),
            Map.entry(PravegaOptions.TXN_VERSION, EnumSet.of(BATCH_WRITE)),
            Map.entry(PravegaOptions.METADATA, EnumSet.noneOf(OptionUse.class)));

    /** @param given the options of one read or write, without those of its table */
    public void tellOthers(Set<String> given) {
        useless(given).filter(name -> TOLD.add(this + " " + name)).forEach(name -> LOG.warn(
                "the option {} does nothing in a {}: it is one of a {}", name, this, uses(name)));
    }

    private static String uses(String option) {
        return OF.get(option).isEmpty() ? "batch read by format(\"pravega\"), not of a table"
                : OF.get(option).stream().map(OptionUse::toString).collect(Collectors.joining(" or "));
    }

    Stream<String> useless(Set<String> given) {
        return given.stream().map(name -> name.toLowerCase(Locale.ROOT)).sorted()
                .filter(name -> OF.containsKey(name) && !OF.get(name).contains(this));
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
