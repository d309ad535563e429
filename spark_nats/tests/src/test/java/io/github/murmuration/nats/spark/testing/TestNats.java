// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.testing;

import io.github.murmuration.nats.shaded.io.nats.client.Connection;
import io.github.murmuration.nats.shaded.io.nats.client.JetStreamManagement;
import io.github.murmuration.nats.shaded.io.nats.client.Nats;
import io.github.murmuration.nats.shaded.io.nats.client.Options;
import io.github.murmuration.nats.shaded.io.nats.client.PurgeOptions;
import io.github.murmuration.nats.shaded.io.nats.client.api.StreamState;
import io.github.murmuration.nats.shaded.io.nats.client.impl.Headers;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

/** A connection that stands beside the data source: it makes streams, and publishes as other clients do. */
public final class TestNats implements AutoCloseable {
    public static final String NAMESPACE = "test_ns";
    private static final AtomicInteger STREAMS = new AtomicInteger();
    private final Connection connection;

    public TestNats(String url) {
        try {
            connection = Nats.connect(new Options.Builder().server(url).maxReconnects(-1).build());
        } catch (Exception failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** A new stream with a name of its own. */
    public String stream(int partitions) {
        return stream(partitions, -1);
    }

    public String stream(int partitions, long maxBytes) {
        String name = "stream-" + STREAMS.incrementAndGet();
        create(name, partitions, maxBytes);
        return name;
    }

    public void create(String name, int partitions, long maxBytes) {
        for (int partition = 0; partition < partitions; partition++) {
            String stream = jetStream(name, partition);
            request("$JS.API.STREAM.CREATE." + stream, """
                    {"name":"%s","subjects":["%s.%s.%d.>"],"storage":"file","num_replicas":1,"retention":"limits",
                    "discard":"old","max_bytes":%d,"allow_direct":true,"allow_atomic":true}
                    """.formatted(stream, NAMESPACE, name, partition, maxBytes));
        }
    }

    public static String jetStream(String stream, int partition) {
        return NAMESPACE + "_" + stream + "_" + partition;
    }

    /** All partitions that there are. */
    public void delete(String stream) {
        try {
            for (String each : management().getStreamNames(NAMESPACE + "." + stream + ".>")) {
                management().deleteStream(each);
            }
        } catch (Exception failed) {
            throw new IllegalStateException(failed);
        }
    }

    public void delete(String stream, int partition) {
        request("$JS.API.STREAM.DELETE." + jetStream(stream, partition), "");
    }

    /** Removes the events before {@code sequence}. */
    public void purge(String stream, int partition, long sequence) {
        try {
            management().purgeStream(jetStream(stream, partition), PurgeOptions.builder().sequence(sequence).build());
        } catch (Exception failed) {
            throw new IllegalStateException(failed);
        }
    }

    public void deleteMessage(String stream, int partition, long sequence) {
        request("$JS.API.STREAM.MSG.DELETE." + jetStream(stream, partition), "{\"seq\":" + sequence + "}");
    }

    public StreamState state(String stream, int partition) {
        try {
            return management().getStreamInfo(jetStream(stream, partition)).getStreamState();
        } catch (Exception failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** As another client publishes; its sequence. */
    public void publish(String stream, int partition, String encodedKey, byte[] event) {
        Headers headers = encodedKey == null ? null : new Headers().put("Key", encodedKey);
        try {
            connection.jetStream().publish(NAMESPACE + "." + stream + "." + partition + ".app", headers, event);
        } catch (Exception failed) {
            throw new IllegalStateException(failed);
        }
    }

    public void publish(String stream, int partition, int from, int until) {
        for (int number = from; number < until; number++) {
            publish(stream, partition, null, ("event-" + number).getBytes(StandardCharsets.UTF_8));
        }
    }

    public Connection connection() {
        return connection;
    }

    public JetStreamManagement management() throws java.io.IOException {
        return connection.jetStreamManagement();
    }

    private void request(String subject, String json) {
        try {
            String answer = new String(connection.requestWithTimeout(
                    subject, json.getBytes(StandardCharsets.UTF_8), java.time.Duration.ofSeconds(20)).get().getData(),
                    StandardCharsets.UTF_8);
            if (answer.contains("\"error\"")) {
                throw new IllegalStateException(answer);
            }
        } catch (java.util.concurrent.ExecutionException | InterruptedException failed) {
            throw new IllegalStateException(failed);
        }
    }

    @Override
    public void close() throws Exception {
        connection.close();
    }
}
