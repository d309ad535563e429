// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.testing;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A server of NATS on this machine that syncs every write, with its files in a folder of its own. */
public final class NatsServer implements AutoCloseable {
    private final int port;
    private final Path folder;
    private Process process;

    /** @param number of the server among those of the tests */
    public NatsServer(int number, int largestBatch) {
        port = Integer.getInteger("nats.test.port", 24000) + number;
        folder = Path.of(System.getProperty("nats.test.dir", "target/nats")).toAbsolutePath().resolve("server-" + port);
        try {
            delete(folder);
            Files.createDirectories(folder);
            Files.writeString(folder.resolve("server.conf"), """
                    listen: "127.0.0.1:%d"
                    max_payload: 4MB
                    jetstream {
                      store_dir: "%s"
                      sync_interval: always
                      limits { batch { max_msgs: %d } }
                    }
                    """.formatted(port, folder.resolve("data"), largestBatch));
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
        start();
    }

    public String url() {
        return "nats://127.0.0.1:" + port;
    }

    public void start() {
        try {
            process = new ProcessBuilder("setpriv", "--pdeathsig", "KILL",
                    System.getProperty("nats.test.server", "nats-server"),
                    "-c", folder.resolve("server.conf").toString()).redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve("server.log").toFile())).start();
            waitUntilReady();
        } catch (IOException | InterruptedException failed) {
            throw new IllegalStateException(failed);
        }
    }

    public void kill() {
        try {
            process.destroyForcibly().waitFor();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    @Override
    public void close() {
        kill();
    }

    private void waitUntilReady() throws IOException, InterruptedException {
        for (int attempt = 0; attempt < 300; attempt++) {
            if (!process.isAlive()) {
                throw new IllegalStateException("the server ended: " + Files.readString(folder.resolve("server.log")));
            }
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress("127.0.0.1", port), 100);
                return;
            } catch (IOException notYet) {
                Thread.sleep(50);
            }
        }
        throw new IllegalStateException("the server is not ready after 15 s");
    }

    private static void delete(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }
}
