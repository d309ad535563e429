// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.testing;

import io.github.murmuration.spark.testing.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A server of NATS on this machine that syncs every write, with its files in a folder of its own. */
public final class NatsServer implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofSeconds(15);

    private final int port;
    private final ServerProcess process;

    /** @param number of the server among those of the tests */
    public NatsServer(int number, int largestBatch) {
        this(number, largestBatch, "4MB");
    }

    /** @param largestMessage its {@code max_payload} */
    public NatsServer(int number, int largestBatch, String largestMessage) {
        port = Integer.getInteger("nats.test.port", 24000) + number;
        Path folder = Path.of(System.getProperty("nats.test.dir", "target/nats")).toAbsolutePath()
                .resolve("server-" + port);
        Path configuration = folder.resolve("server.conf");
        try {
            ServerProcess.delete(folder);
            Files.createDirectories(folder);
            Files.writeString(configuration, """
                    listen: "127.0.0.1:%d"
                    max_payload: %s
                    jetstream {
                      store_dir: "%s"
                      sync_interval: always
                      limits { batch { max_msgs: %d } }
                    }
                    """.formatted(port, largestMessage, folder.resolve("data"), largestBatch));
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
        process = new ServerProcess(folder, List.of(
                System.getProperty("nats.test.server", "nats-server"), "-c", configuration.toString()));
        start();
    }

    public String url() {
        return "nats://127.0.0.1:" + port;
    }

    public void start() {
        process.start(START_LIMIT, () -> ServerProcess.requireListening(port));
    }

    public void kill() {
        process.kill();
    }

    @Override
    public void close() {
        process.close();
    }
}
