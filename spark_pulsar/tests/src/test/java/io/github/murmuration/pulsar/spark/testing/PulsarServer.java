// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.testing;

import io.github.murmuration.spark.testing.ServerProcess;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A Pulsar on this machine: broker, bookie with fsync and metadata in one process, in a folder that is removed. */
public final class PulsarServer implements AutoCloseable {
    private static final String JARS = "pulsar.test.jars";
    private static final Duration START_LIMIT = Duration.ofSeconds(120);
    private static final Duration ANSWER = Duration.ofSeconds(5);
    private static final String LOG = """
            rootLogger.level=warn
            rootLogger.appenderRef.console.ref=console
            appender.console.type=Console
            appender.console.name=console
            appender.console.layout.type=PatternLayout
            appender.console.layout.pattern=%d{HH:mm:ss} %p %c{1}: %m%n
            logger.bookie.name=org.apache.pulsar.metadata.bookkeeper.BKCluster
            logger.bookie.level=info
            """;
    /** What is said of a bookie that is there, and registered. */
    private static final String BOOKIE_CREATED = "has been created";
    private static final AtomicInteger SERVERS = new AtomicInteger();
    /** Packages of the JDK that Pulsar and Netty reach into. */
    private static final List<String> OPENED = List.of("java.base/java.io", "java.base/java.util.zip",
            "java.base/java.nio", "java.base/jdk.internal.misc", "java.base/jdk.internal.platform",
            "java.base/sun.net", "java.management/sun.management", "jdk.management/com.sun.management.internal");

    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final Path folder;
    private final int broker;
    private final int administration;
    private final ServerProcess process;

    /** @throws IllegalStateException if it is not told where the software is, or if it does not start */
    public PulsarServer() {
        int[] ports = ServerProcess.freePorts(2);
        broker = ports[0];
        administration = ports[1];
        folder = Path.of(System.getProperty("pulsar.test.dir", "target/pulsar")).toAbsolutePath()
                .resolve("server-" + SERVERS.incrementAndGet());
        try {
            ServerProcess.delete(folder);
            Files.createDirectories(folder);
            Files.writeString(folder.resolve("standalone.conf"), configuration());
            Files.writeString(folder.resolve("log4j2.properties"), LOG);
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
        process = new ServerProcess(folder, command(jars()));
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
        start();
    }

    /** For clients. */
    public String service() {
        return "pulsar://127.0.0.1:" + broker;
    }

    public String admin() {
        return "http://127.0.0.1:" + administration;
    }

    /** Also again, with what it held before it was killed. */
    public void start() {
        if (Files.exists(folder.resolve("metadata"))) {
            endBookie();
        }
        process.start(START_LIMIT, this::requireTenants);
    }

    /**
     * Has a bookie without a broker begin, and end in an orderly way. Else the registration of the one that was killed
     * is replaced by the server, which now and then takes the removal of the old one for that of the new one, and then
     * goes on replacing it for ever.
     */
    private void endBookie() {
        List<String> bookie = new ArrayList<>(List.of("setpriv", "--pdeathsig", "KILL"));
        bookie.addAll(command(jars()));
        bookie.add("--no-broker");
        try {
            Process process = new ProcessBuilder(bookie).redirectErrorStream(true).start();
            process.onExit().orTimeout(START_LIMIT.toSeconds(), TimeUnit.SECONDS)
                    .exceptionally(late -> process.destroyForcibly());
            try (BufferedReader log = process.inputReader()) {
                if (log.lines().filter(line -> line.contains(BOOKIE_CREATED)).peek(line -> process.destroy())
                        .count() == 0) {
                    throw new IllegalStateException("the bookie did not begin");
                }
            } finally {
                process.destroyForcibly().waitFor();
            }
        } catch (IOException | InterruptedException failed) {
            throw new IllegalStateException(failed);
        }
    }

    public void kill() {
        process.kill();
    }

    @Override
    public synchronized void close() {
        process.close();
        try {
            ServerProcess.delete(folder);
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private static Path jars() {
        String jars = System.getProperty(JARS, "");
        if (!new File(jars).isDirectory()) {
            throw new IllegalStateException("-D" + JARS + "=FOLDER names the jars of Pulsar's server: \"" + jars
                    + "\" is no folder");
        }
        return Path.of(jars);
    }

    private List<String> command(Path jars) {
        List<String> command = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElse("java"),
                "-Xmx384m", "-XX:MaxDirectMemorySize=384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                "-Djava.net.preferIPv4Stack=true", "-Djava.io.tmpdir=" + folder,
                "-Dio.netty.tryReflectionSetAccessible=true",
                "-Dlog4j2.configurationFile=" + folder.resolve("log4j2.properties")));
        OPENED.forEach(opened -> command.add("--add-opens=" + opened + "=ALL-UNNAMED"));
        command.addAll(List.of("-cp", jars + "/*", "org.apache.pulsar.PulsarStandaloneStarter",
                "--config=" + folder.resolve("standalone.conf"), "--metadata-dir=" + folder.resolve("metadata"),
                "--bookkeeper-dir=" + folder.resolve("bookkeeper"), "--bookkeeper-port=0", "--num-bookies=1",
                "--no-functions-worker", "--no-stream-storage"));
        return command;
    }

    /** No topic is created unasked; the bookie listens on loopback at any free port, and is known by its identity. */
    private String configuration() {
        return """
                clusterName=test
                brokerServicePort=%d
                webServicePort=%d
                bindAddress=127.0.0.1
                advertisedAddress=127.0.0.1
                webSocketServiceEnabled=false
                brokerClient_dnsLookupBindAddress=127.0.0.1
                numIOThreads=2
                numHttpServerThreads=8
                numOrderedExecutorThreads=2
                bookkeeperClientNumWorkerThreads=2
                bookkeeperClientNumIoThreads=2
                allowAutoTopicCreation=false
                brokerDeleteInactiveTopicsEnabled=false
                defaultNumberOfNamespaceBundles=1
                loadBalancerEnabled=false
                loadManagerClassName=org.apache.pulsar.broker.loadbalance.NoopLoadManager
                transactionCoordinatorEnabled=false
                managedLedgerMinLedgerRolloverTimeMinutes=0
                managedLedgerDefaultEnsembleSize=1
                managedLedgerDefaultWriteQuorum=1
                managedLedgerDefaultAckQuorum=1
                managedLedgerCacheSizeMB=64
                bookieId=127.0.0.1:0
                allowEphemeralPorts=true
                listeningInterface=lo
                allowLoopback=true
                httpServerEnabled=false
                journalSyncData=true
                journalMaxGroupWaitMSec=1
                journalPreAllocSizeMB=4
                journalMaxSizeMB=64
                numAddWorkerThreads=1
                numReadWorkerThreads=2
                serverNumIOThreads=2
                ledgerStorageClass=org.apache.bookkeeper.bookie.storage.ldb.DbLedgerStorage
                dbStorage_writeCacheMaxSizeMb=32
                dbStorage_readAheadCacheMaxSizeMb=32
                dbStorage_rocksDB_blockCacheSize=16777216
                diskUsageThreshold=0.999
                diskUsageWarnThreshold=0.98
                """.formatted(broker, administration);
    }

    /** Its metadata is there, and its bookie has been since before it. */
    private void requireTenants() throws IOException, InterruptedException {
        HttpResponse<String> answer = http.send(
                HttpRequest.newBuilder(URI.create(admin() + "/admin/v2/tenants")).timeout(ANSWER).build(),
                HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() != 200 || !answer.body().contains("public")) {
            throw new IOException(answer.statusCode() + " " + answer.body());
        }
    }
}
