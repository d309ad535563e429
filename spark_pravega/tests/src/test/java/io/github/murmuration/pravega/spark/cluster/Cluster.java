// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.cluster;

import io.github.murmuration.spark.testing.LocalSpark;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.master.Master;
import org.apache.spark.deploy.worker.Worker;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.sql.SparkSession;
import scala.Option;

/**
 * A Spark whose two executors, of one core each, are processes of their own. Closed, it leaves none.
 *
 * <p>Executors take Spark from the folder that the environment names SPARK_HOME, where Spark wants a folder of jars; it
 * stays empty, since they get the class path of the tests.
 */
final class Cluster implements AutoCloseable {
    private static final int CORES_PER_WORKER = 1;
    private static final int MEGABYTES_PER_WORKER = 1024;

    private final SparkSession session;
    private final List<RpcEnv> servers;

    private Cluster(String master, Map<String, String> settings, List<RpcEnv> servers) {
        this.servers = servers;
        SparkSession.Builder builder = SparkSession.builder()
                .master(master)
                .config("spark.ui.enabled", "false")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.executor.memory", "512m")
                .config("spark.executor.extraClassPath", LocalSpark.classPath())
                // Nothing begins before both executors are there.
                .config("spark.cores.max", 2 * CORES_PER_WORKER)
                .config("spark.scheduler.minRegisteredResourcesRatio", 1);
        settings.forEach(builder::config);
        session = builder.getOrCreate();
    }

    /** As Spark's own tests have it; both executors are on the same host by name. */
    static Cluster local() throws IOException {
        makeHome();
        String master = "local-cluster[2,%d,%d]".formatted(CORES_PER_WORKER, MEGABYTES_PER_WORKER);
        return new Cluster(master, Map.of(), List.of());
    }

    /** With workers under two names of this machine: Spark starts a second attempt only on another host. */
    static Cluster speculating() throws IOException {
        makeHome();
        SparkConf conf = new SparkConf().set("spark.master.rest.enabled", "false");
        RpcEnv master = Master.startRpcEnvAndEndpoint("127.0.0.1", 0, 0, conf)._1();
        String url = master.address().toSparkURL();
        return new Cluster(url, Map.of(
                "spark.speculation", "true",
                "spark.speculation.interval", "100ms",
                "spark.speculation.quantile", "0.5",
                "spark.speculation.multiplier", "1.5"),
                List.of(worker("127.0.0.1", 1, url, conf), worker("localhost", 2, url, conf), master));
    }

    @Override
    public void close() {
        session.stop();
        servers.forEach(RpcEnv::shutdown);
        servers.forEach(RpcEnv::awaitTermination);
    }

    private static RpcEnv worker(String host, int number, String master, SparkConf conf) {
        return Worker.startRpcEnvAndEndpoint(host, 0, 0, CORES_PER_WORKER, MEGABYTES_PER_WORKER,
                new String[] {master}, null, Option.apply(number), conf, Option.empty());
    }

    private static void makeHome() throws IOException {
        Files.createDirectories(Path.of(System.getenv("SPARK_HOME"), "jars"));
    }
}
