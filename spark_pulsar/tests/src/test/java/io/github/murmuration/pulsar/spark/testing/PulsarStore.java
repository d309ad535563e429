// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.testing;

import io.github.murmuration.spark.testing.TestStore;
import java.util.Map;

/** The server of most tests, started when it is first needed. */
public final class PulsarStore implements TestStore {
    public static final PulsarStore STORE = new PulsarStore();
    private static final int EVENTS_PER_ENTRY = 5;
    private static PulsarServer server;
    private static TestPulsar pulsar;

    private PulsarStore() {
    }

    public static synchronized PulsarServer server() {
        if (server == null) {
            server = new PulsarServer();
        }
        return server;
    }

    public static synchronized TestPulsar pulsar() {
        if (pulsar == null) {
            pulsar = new TestPulsar(server().service(), server().admin());
        }
        return pulsar;
    }

    /** The options that tell where the streams of a server are. */
    public static Map<String, String> where(PulsarServer of) {
        return Map.of("service_url", of.service(), "admin_url", of.admin(), "namespace", TestPulsar.NAMESPACE);
    }

    @Override
    public String format() {
        return "pulsar";
    }

    @Override
    public Map<String, String> where() {
        return where(server());
    }

    @Override
    public long firstOffset() {
        return 0;
    }

    @Override
    public String stream(int partitions) {
        return pulsar().stream(partitions);
    }

    @Override
    public void createAnew(String stream, int partitions) {
        pulsar().delete(stream);
        pulsar().create(stream, partitions);
    }

    @Override
    public void publish(String stream, int partition, String key, byte[] event) {
        pulsar().publish(stream, partition, key, event);
    }

    @Override
    public void publish(String stream, int partition, int from, int until) {
        pulsar().publish(stream, partition, from, until, EVENTS_PER_ENTRY);
    }
}
