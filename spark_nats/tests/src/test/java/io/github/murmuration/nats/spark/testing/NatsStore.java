// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.testing;

import io.github.murmuration.spark.testing.TestStore;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** The server of most tests, started when it is first needed. */
public final class NatsStore implements TestStore {
    public static final int LARGEST_BATCH = 10_000;
    public static final NatsStore STORE = new NatsStore();
    private static NatsServer server;
    private static TestNats nats;

    private NatsStore() {
    }

    public static synchronized NatsServer server() {
        if (server == null) {
            server = new NatsServer(0, LARGEST_BATCH);
        }
        return server;
    }

    public static synchronized TestNats nats() {
        if (nats == null) {
            nats = new TestNats(server().url());
        }
        return nats;
    }

    @Override
    public String format() {
        return "nats";
    }

    @Override
    public Map<String, String> where() {
        return Map.of("servers", server().url(), "namespace", TestNats.NAMESPACE);
    }

    @Override
    public long firstOffset() {
        return 1;
    }

    @Override
    public String stream(int partitions) {
        return nats().stream(partitions);
    }

    @Override
    public void createAnew(String stream, int partitions) {
        nats().delete(stream);
        nats().create(stream, partitions, -1);
    }

    @Override
    public void publish(String stream, int partition, String key, byte[] event) {
        nats().publish(stream, partition, key == null ? null : URLEncoder.encode(key, StandardCharsets.UTF_8), event);
    }

    @Override
    public void publish(String stream, int partition, int from, int until) {
        nats().publish(stream, partition, from, until);
    }
}
