// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.testing;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.pulsar.client.api.BatcherBuilder;
import org.apache.pulsar.client.api.MessageIdAdv;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.TypedMessageBuilder;

/** A client that stands beside the data source: it makes streams, and publishes as other clients do. */
public final class TestPulsar implements AutoCloseable {
    public static final String TENANT = "murmur";
    private static final String RUN = Long.toString(System.currentTimeMillis(), 36);
    public static final String NAMESPACE = "test-" + RUN;
    private static final String WITH_PROPERTIES = "application/vnd.partitioned-topic-metadata+json";
    private static final int CONFLICT = 409;
    private static final AtomicInteger STREAMS = new AtomicInteger();

    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String admin;
    private final PulsarClient client;

    public TestPulsar(String service, String admin) {
        this.admin = admin;
        try {
            client = PulsarClient.builder().serviceUrl(service).build();
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
        ask("PUT", "tenants/" + TENANT, "{\"allowedClusters\":" + ask("GET", "clusters", null) + "}");
        ask("PUT", "namespaces/" + TENANT + "/" + NAMESPACE, "{\"bundles\":{\"numBundles\":1},"
                + "\"retention_policies\":{\"retentionTimeInMinutes\":-1,\"retentionSizeInMB\":-1}}");
    }

    /** A new stream with a name of its own. */
    public String stream(int partitions) {
        String name = "stream-" + STREAMS.incrementAndGet();
        create(name, partitions);
        return name;
    }

    public void create(String name, int partitions) {
        ask("PUT", path(name) + "/partitions", "{\"partitions\":" + partitions
                + ",\"properties\":{\"life\":\"" + System.nanoTime() + "\"}}", WITH_PROPERTIES);
        begin(name, 0, partitions);
    }

    public void add(String name, int before, int partitions) {
        ask("POST", path(name) + "/partitions", Integer.toString(partitions));
        begin(name, before, partitions);
    }

    private void begin(String name, int from, int until) {
        for (int partition = until - 1; partition >= from; partition--) {
            try (Producer<byte[]> producer = client.newProducer().topic(topic(name, partition))
                    .enableBatching(false).create()) {
                MessageIdAdv origin = (MessageIdAdv) producer.send("origin".getBytes(StandardCharsets.UTF_8));
                note(name, "origin." + partition, origin.getLedgerId() + ":" + origin.getEntryId());
            } catch (IOException failed) {
                throw new IllegalStateException(failed);
            }
        }
    }

    public void note(String name, String property, String value) {
        ask("PUT", path(name) + "/properties", "{\"" + property + "\":\"" + value + "\"}");
    }

    public void delete(String name) {
        ask("DELETE", path(name) + "/partitions?force=true", null);
    }

    public void delete(String name, int partition) {
        ask("DELETE", path(name) + "-partition-" + partition + "?force=true", null);
    }

    /** Has a partition go on in a new ledger. */
    public void roll(String name, int partition) {
        ask("PUT", path(name) + "-partition-" + partition + "/unload", null);
        ask("GET", path(name) + "-partition-" + partition + "/lastMessageId", null);
    }

    /** Removes all ledgers but the newest. */
    public void truncate(String name, int partition) {
        ask("DELETE", path(name) + "-partition-" + partition + "/truncate", null);
    }

    public static String topic(String stream, int partition) {
        return "persistent://" + TENANT + "/" + NAMESPACE + "/" + stream + "-partition-" + partition;
    }

    public void publish(String stream, int partition, String key, byte[] event) {
        try (Producer<byte[]> producer = client.newProducer().topic(topic(stream, partition))
                .enableBatching(false).create()) {
            TypedMessageBuilder<byte[]> message = producer.newMessage().value(event);
            (key == null ? message : message.key(key)).send();
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** Events of these numbers, so many in an entry. */
    public void publish(String stream, int partition, int from, int until, int perEntry) {
        try (Producer<byte[]> producer = client.newProducer().topic(topic(stream, partition)).enableBatching(true)
                .batcherBuilder(BatcherBuilder.DEFAULT).batchingMaxMessages(perEntry).batchingMaxBytes(4 << 20)
                .batchingMaxPublishDelay(10, TimeUnit.SECONDS).maxPendingMessages(100_000).create()) {
            for (int number = from; number < until; number++) {
                producer.newMessage().value(("event-" + number).getBytes(StandardCharsets.UTF_8)).sendAsync();
            }
            producer.flush();
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
    }

    @Override
    public void close() throws IOException {
        client.close();
    }

    private static String path(String name) {
        return "persistent/" + TENANT + "/" + NAMESPACE + "/" + name;
    }

    private String ask(String method, String path, String body) {
        return ask(method, path, body, "application/json");
    }

    private String ask(String method, String path, String body, String kind) {
        try {
            HttpRequest.BodyPublisher content = body == null ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body);
            HttpResponse<String> answer = http.send(HttpRequest.newBuilder(URI.create(admin + "/admin/v2/" + path))
                    .header("Content-Type", kind).method(method, content).build(),
                    HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() >= 300 && answer.statusCode() != CONFLICT) {
                throw new IllegalStateException(method + " " + path + ": " + answer.statusCode() + answer.body());
            }
            return answer.body();
        } catch (IOException | InterruptedException failed) {
            throw new IllegalStateException(failed);
        }
    }
}
