package io.github.murmuration.pravega.spark;

import io.pravega.client.ClientConfig;
import io.pravega.client.admin.StreamManager;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A durable single-node Pravega for the tests: ZooKeeper, BookKeeper with fsync, controller and segment store as four
 * processes, started once per JVM and ended with it, even if that is killed.
 */
final class DurablePravega implements BeforeAllCallback, ExtensionContext.Store.CloseableResource {
    static final String SCOPE = "test";
    private static final int PORT = Integer.getInteger("pravega.test.port");
    private static final int BOOKIE = PORT + 1;
    private static final int CONTROLLER = PORT + 2;
    private static final int CONTROLLER_REST = PORT + 3;
    private static final int SEGMENT_STORE = PORT + 4;
    private static final Path JARS = Path.of(System.getProperty("pravega.test.jars"));
    private static final Path DIR = Path.of(System.getProperty("pravega.test.dir"));
    private static final String ZNODE = "/pravega/test";
    private static final Duration START_LIMIT = Duration.ofSeconds(60);

    private final List<Process> processes = new ArrayList<>();

    static String controllerUri() {
        return "tcp://127.0.0.1:" + CONTROLLER;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        context.getRoot().getStore(ExtensionContext.Namespace.GLOBAL)
                .getOrComputeIfAbsent(DurablePravega.class, ignored -> started(), DurablePravega.class);
    }

    @Override
    public void close() {
        Collections.reverse(processes);
        processes.forEach(Process::destroyForcibly);
    }

    private static DurablePravega started() {
        DurablePravega pravega = new DurablePravega();
        try {
            pravega.start();
            return pravega;
        } catch (IOException | InterruptedException | RuntimeException failed) {
            pravega.close();
            throw new IllegalStateException("Pravega did not start, see " + DIR, failed);
        }
    }

    private void start() throws IOException, InterruptedException {
        deleteState();
        Files.createDirectories(DIR);
        String zookeeper = "127.0.0.1:" + PORT;
        serve("zookeeper", 128, List.of(), "org.apache.zookeeper.server.ZooKeeperServerMain",
                write("zookeeper.cfg", """
                        clientPort=%d
                        clientPortAddress=127.0.0.1
                        dataDir=%s/zookeeper
                        tickTime=2000
                        admin.enableServer=false
                        """.formatted(PORT, DIR)));
        await(PORT);
        for (String node : List.of("/pravega", ZNODE, ZNODE + "/bookkeeper")) {
            run("org.apache.zookeeper.ZooKeeperMain", "-server", zookeeper, "create", node);
        }
        String bookkeeper = write("bookkeeper.conf", """
                bookiePort=%d
                advertisedAddress=127.0.0.1
                listeningInterface=lo
                allowLoopback=true
                metadataServiceUri=zk+hierarchical://%s%s/bookkeeper/ledgers
                journalDirectories=%s/journal
                ledgerDirectories=%s/ledgers
                journalSyncData=true
                journalAdaptiveGroupWrites=true
                journalMaxGroupWaitMSec=1
                diskUsageThreshold=0.99
                diskUsageWarnThreshold=0.98
                httpServerEnabled=false
                """.formatted(BOOKIE, zookeeper, ZNODE, DIR, DIR));
        run("org.apache.bookkeeper.bookie.BookieShell", "-conf", bookkeeper, "initnewcluster");
        serve("bookie", 256, List.of(), "org.apache.bookkeeper.server.Main", "--conf", bookkeeper);
        await(BOOKIE);
        String controller = """
                controller.cluster.name=test
                controller.zk.connect.uri=%1$s
                controller.container.count=4
                controller.service.rpc.listener.port=%2$d
                controller.service.rpc.published.host.nameOrIp=127.0.0.1
                controller.service.rpc.published.port=%2$d
                controller.service.rest.listener.host.ip=127.0.0.1
                controller.service.rest.listener.port=%3$d
                controller.rebalance.interval.seconds.min=2
                """.formatted(zookeeper, CONTROLLER, CONTROLLER_REST);
        serve("controller", 384, controller.lines().map(setting -> "-D" + setting).toList(),
                "io.pravega.controller.server.Main");
        String segmentStore = write("segment-store.properties", """
                pravegaservice.clusterName=test
                pravegaservice.zk.connect.uri=%1$s
                pravegaservice.container.count=4
                pravegaservice.service.listener.host.nameOrIp=127.0.0.1
                pravegaservice.service.listener.port=%2$d
                pravegaservice.service.published.host.nameOrIp=127.0.0.1
                pravegaservice.service.published.port=%2$d
                pravegaservice.admin.gateway.enable=false
                pravegaservice.rest.listener.enable=false
                pravegaservice.cache.size.max=536870912
                pravegaservice.dataLog.impl.name=BOOKKEEPER
                bookkeeper.zk.connect.uri=%1$s
                bookkeeper.ledger.path=%3$s/bookkeeper/ledgers
                bookkeeper.ensemble.size=1
                bookkeeper.write.quorum.size=1
                bookkeeper.ack.quorum.size=1
                pravegaservice.storage.impl.name=FILESYSTEM
                pravegaservice.storage.layout=CHUNKED_STORAGE
                filesystem.root=%4$s/long-term
                autoScale.controller.connect.uri=tcp://127.0.0.1:%5$d
                metrics.statistics.enable=false
                """.formatted(zookeeper, SEGMENT_STORE, ZNODE, DIR, CONTROLLER));
        serve("segment-store", 512,
                List.of("-Dpravega.configurationFile=" + segmentStore, "-XX:MaxDirectMemorySize=1g"),
                "io.pravega.segmentstore.server.host.ServiceStarter");
        await(CONTROLLER);
        await(SEGMENT_STORE);
        createScope();
    }

    /** Ports answer before the segment containers do: only a metadata update that succeeds tells that all is up. */
    private static void createScope() throws InterruptedException {
        ClientConfig config = ClientConfig.builder().controllerURI(URI.create(controllerUri())).build();
        long limit = System.nanoTime() + START_LIMIT.toNanos();
        try (StreamManager streams = StreamManager.create(config)) {
            while (true) {
                try {
                    streams.createScope(SCOPE);
                    return;
                } catch (RuntimeException notYet) {
                    if (System.nanoTime() > limit) {
                        throw notYet;
                    }
                    Thread.sleep(200);
                }
            }
        }
    }

    private void serve(String name, int heapMegabytes, List<String> jvm, String... command) throws IOException {
        processes.add(java(name, heapMegabytes, jvm, command));
    }

    private static void run(String... command) throws IOException, InterruptedException {
        Process process = java("setup", 64, List.of(), command);
        if (!process.waitFor(START_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IllegalStateException(String.join(" ", command) + " did not end");
        }
    }

    private static Process java(String name, int heapMegabytes, List<String> jvm, String... command)
            throws IOException {
        List<String> line = new ArrayList<>(List.of("setpriv", "--pdeathsig", "KILL",
                ProcessHandle.current().info().command().orElse("java"), "-Xmx" + heapMegabytes + "m",
                "-XX:TieredStopAtLevel=1", "-Djava.net.preferIPv4Stack=true", "-Djava.io.tmpdir=" + DIR));
        line.addAll(jvm);
        line.addAll(List.of("-cp", JARS + "/*"));
        line.addAll(List.of(command));
        return new ProcessBuilder(line)
                .directory(DIR.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(new File(DIR.toFile(), name + ".log")))
                .start();
    }

    private void await(int port) throws InterruptedException {
        long limit = System.nanoTime() + START_LIMIT.toNanos();
        while (true) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress("127.0.0.1", port), 1000);
                return;
            } catch (IOException notYet) {
                if (System.nanoTime() > limit || processes.stream().anyMatch(process -> !process.isAlive())) {
                    throw new IllegalStateException("nothing listens on port " + port, notYet);
                }
                Thread.sleep(50);
            }
        }
    }

    private static String write(String name, String content) throws IOException {
        return Files.writeString(DIR.resolve(name), content).toString();
    }

    private static void deleteState() throws IOException {
        if (Files.exists(DIR)) {
            try (Stream<Path> paths = Files.walk(DIR)) {
                paths.sorted(Comparator.reverseOrder()).forEach(path -> {
                    try {
                        Files.delete(path);
                    } catch (IOException failed) {
                        throw new UncheckedIOException(failed);
                    }
                });
            }
        }
    }
}
