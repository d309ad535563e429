// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.testing.server;

import io.pravega.client.ClientConfig;
import io.pravega.client.admin.StreamManager;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A durable Pravega on one machine: ZooKeeper, BookKeeper with fsync, controller and segment store as four processes,
 * which end with this JVM, even if that is killed.
 */
public final class PravegaServer implements AutoCloseable {
    /** Free ports that one server takes, from its first on. */
    public static final int PORTS = 6;
    /** Of the segment store; few, for a quick start. */
    public static final int CONTAINERS = 4;
    private static final Path JARS = Path.of(System.getProperty("pravega.test.jars"));
    private static final String ZNODE = "/pravega/test";
    private static final Duration START_LIMIT = Duration.ofSeconds(60);

    private final Path dir;
    private final ServerSecurity security;
    private final int zookeeper;
    private final int bookiePort;
    private final int controller;
    private final int controllerRest;
    private final int segmentStore;
    private final int admin;
    private final List<Process> processes = new ArrayList<>();
    private Process bookie;

    /** @param dir of all state and logs; what it holds is deleted at the start */
    public PravegaServer(int firstPort, Path dir, ServerSecurity security) {
        this.dir = dir;
        this.security = security;
        zookeeper = firstPort;
        bookiePort = firstPort + 1;
        controller = controllerPort(firstPort);
        controllerRest = firstPort + 3;
        segmentStore = segmentStorePort(firstPort);
        admin = firstPort + 5;
    }

    /** Where a server with this first port has its controller. */
    public static String controllerAddress(int firstPort) {
        return "127.0.0.1:" + controllerPort(firstPort);
    }

    private static int controllerPort(int firstPort) {
        return firstPort + 2;
    }

    public static int segmentStorePort(int firstPort) {
        return firstPort + 4;
    }

    /** Returns when the server does its work, of which the scope is the first. */
    public PravegaServer started(ClientConfig client, String scope) {
        try {
            deleteState();
            Files.createDirectories(dir);
            security.write(dir);
            start();
            create(scope, client);
            return this;
        } catch (IOException | InterruptedException | RuntimeException failed) {
            close();
            throw new IllegalStateException("Pravega did not start, see " + dir, failed);
        }
    }

    /** Without it nothing becomes durable. */
    ProcessHandle bookie() {
        return bookie.toHandle();
    }

    @Override
    public void close() {
        Collections.reverse(processes);
        processes.forEach(Process::destroyForcibly);
    }

    private void start() throws IOException, InterruptedException {
        String zookeeperAddress = "127.0.0.1:" + zookeeper;
        serve("zookeeper", 128, List.of(), "org.apache.zookeeper.server.ZooKeeperServerMain",
                write("zookeeper.cfg", """
                        clientPort=%d
                        clientPortAddress=127.0.0.1
                        dataDir=%s/zookeeper
                        tickTime=2000
                        admin.enableServer=false
                        """.formatted(zookeeper, dir)));
        await(zookeeper);
        for (String node : List.of("/pravega", ZNODE, ZNODE + "/bookkeeper")) {
            run("org.apache.zookeeper.ZooKeeperMain", "-server", zookeeperAddress, "create", node);
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
                diskUsageThreshold=0.999
                diskUsageWarnThreshold=0.98
                httpServerEnabled=false
                """.formatted(bookiePort, zookeeperAddress, ZNODE, dir, dir));
        run("org.apache.bookkeeper.bookie.BookieShell", "-conf", bookkeeper, "initnewcluster");
        bookie = serve("bookie", 256, List.of(), "org.apache.bookkeeper.server.Main", "--conf", bookkeeper);
        await(bookiePort);
        String controllerSettings = """
                controller.cluster.name=test
                controller.zk.connect.uri=%1$s
                controller.container.count=%4$d
                controller.service.rpc.listener.port=%2$d
                controller.service.rpc.published.host.nameOrIp=127.0.0.1
                controller.service.rpc.published.port=%2$d
                controller.service.rest.listener.host.ip=127.0.0.1
                controller.service.rest.listener.port=%3$d
                controller.rebalance.interval.seconds.min=2
                """.formatted(zookeeperAddress, controller, controllerRest, CONTAINERS)
                + security.controllerSettings(dir);
        serve("controller", 384, controllerSettings.lines().map(setting -> "-D" + setting).toList(),
                "io.pravega.controller.server.Main");
        String segmentStoreSettings = write("segment-store.properties", """
                pravegaservice.clusterName=test
                pravegaservice.zk.connect.uri=%1$s
                pravegaservice.container.count=%6$d
                pravegaservice.service.listener.host.nameOrIp=127.0.0.1
                pravegaservice.service.listener.port=%2$d
                pravegaservice.service.published.host.nameOrIp=127.0.0.1
                pravegaservice.service.published.port=%2$d
                pravegaservice.admin.gateway.enable=true
                pravegaservice.admin.gateway.port=%7$d
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
                autoScale.controller.connect.uri=%8$s127.0.0.1:%5$d
                metrics.statistics.enable=false
                """.formatted(zookeeperAddress, segmentStore, ZNODE, dir, controller, CONTAINERS,
                        admin, security.scheme())
                + security.segmentStoreSettings(dir));
        List<String> jvm = new ArrayList<>(security.segmentStoreCredentials());
        jvm.addAll(List.of("-Dpravega.configurationFile=" + segmentStoreSettings, "-XX:MaxDirectMemorySize=1g"));
        serve("segment-store", 512, jvm, "io.pravega.segmentstore.server.host.ServiceStarter");
        await(controller);
        await(segmentStore);
    }

    /** Ports answer before the segment containers do: only a metadata update that succeeds tells that all is up. */
    private static void create(String scope, ClientConfig client) throws InterruptedException {
        long limit = System.nanoTime() + START_LIMIT.toNanos();
        try (StreamManager streams = StreamManager.create(client)) {
            while (true) {
                try {
                    streams.createScope(scope);
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

    private Process serve(String name, int heapMegabytes, List<String> jvm, String... command) throws IOException {
        Process process = java(name, heapMegabytes, jvm, command);
        processes.add(process);
        return process;
    }

    private void run(String... command) throws IOException, InterruptedException {
        Process process = java("setup", 64, List.of(), command);
        if (!process.waitFor(START_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IllegalStateException(String.join(" ", command) + " did not end");
        }
    }

    private Process java(String name, int heapMegabytes, List<String> jvm, String... command) throws IOException {
        List<String> line = new ArrayList<>(List.of("setpriv", "--pdeathsig", "KILL",
                ProcessHandle.current().info().command().orElse("java"), "-Xmx" + heapMegabytes + "m",
                "-XX:TieredStopAtLevel=1", "-Djava.net.preferIPv4Stack=true", "-Djava.io.tmpdir=" + dir));
        line.addAll(jvm);
        line.addAll(List.of("-cp", JARS + "/*"));
        line.addAll(List.of(command));
        return new ProcessBuilder(line)
                .directory(dir.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(new File(dir.toFile(), name + ".log")))
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

    private String write(String name, String content) throws IOException {
        return Files.writeString(dir.resolve(name), content).toString();
    }

    private void deleteState() throws IOException {
        if (Files.exists(dir)) {
            try (Stream<Path> paths = Files.walk(dir)) {
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
