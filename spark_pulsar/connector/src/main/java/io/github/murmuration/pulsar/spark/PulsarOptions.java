// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark;

import io.github.murmuration.pulsar.spark.client.EventStream;
import io.github.murmuration.spark.common.EventOptions;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The options of one read or write, typed. Each of the methods fails with what is wrong with its option. */
public final class PulsarOptions extends EventOptions {
    private static final long serialVersionUID = 1L;

    public static final String SERVICE_URL = "service_url";
    public static final String ADMIN_URL = "admin_url";
    public static final String TENANT = "tenant";

    private static final Set<String> OWN = Set.of(SERVICE_URL, ADMIN_URL, TENANT);

    public PulsarOptions(Map<String, String> options) {
        super("pulsar", OWN, options);
    }

    /** These options and others, which win. */
    public PulsarOptions with(Map<String, String> others) {
        return new PulsarOptions(merged(others));
    }

    /** Of the broker, for clients. */
    public String serviceUrl() {
        return text(SERVICE_URL).orElse("pulsar://127.0.0.1:6650");
    }

    /** Of its administration, by HTTP. */
    public String adminUrl() {
        return text(ADMIN_URL).orElse("http://127.0.0.1:8080");
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

    /** @throws IllegalArgumentException if what this data source has not is asked for */
    public void requireAtLeastOnce() {
        if (flag(EXACTLY_ONCE, false)) {
            throw new IllegalArgumentException("the data source pulsar writes at least once: it has no exactly_once");
        }
    }
}
