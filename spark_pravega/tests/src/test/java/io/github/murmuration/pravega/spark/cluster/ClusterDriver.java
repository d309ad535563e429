// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.cluster;

import io.github.murmuration.pravega.spark.testing.LoggedSteps;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.github.murmuration.pravega.spark.testing.server.SegmentStoreCommands;
import io.github.murmuration.spark.testing.DriverProcess;
import io.pravega.shared.protocol.netty.WireCommands;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQuery;

/**
 * A driver with executors: writes the epochs of {@link PlannedSource}, and ends when all are done. It kills itself in a
 * step of an epoch, where that waits for it, as soon as a file has the name of the {@link KillStep}.
 */
final class ClusterDriver {
    /** What it prints when its query runs. */
    static final String STARTED = "the query has started";
    /** As long as a restart takes, about: some transactions of a killed driver have expired when it is back. */
    static final long LEASE_MS = 15_000;

    private ClusterDriver() {
    }

    /** Arguments: seed, rows, target, checkpoint, folder of such files. */
    public static void main(String[] arguments) throws Exception {
        Path orders = Path.of(arguments[4]);
        try (Cluster cluster = Cluster.local()) {
            Configurator.setLevel("io.github.murmuration.pravega.spark", Level.DEBUG);
            new LoggedSteps(Level.DEBUG, (step, record) -> dieIfAsked(KillStep.after(step, record), orders));
            new SegmentStoreCommands(command -> {
                if (command instanceof WireCommands.DataAppended) {
                    dieIfAsked(KillStep.APPENDED_ANSWER_LOST, orders);
                }
            });
            StreamingQuery query = SparkSession.active().readStream().format(PlannedSource.class.getName())
                    .option("seed", arguments[0]).option("rows", arguments[1]).load()
                    .writeStream().format("pravega")
                    .option("controller", DurablePravega.controllerUri()).option("scope", DurablePravega.SCOPE)
                    .option("stream", arguments[2]).option("transaction_timeout_ms", LEASE_MS)
                    .option("checkpointLocation", arguments[3]).start();
            System.out.println(STARTED);
            query.processAllAvailable();
            query.stop();
        }
    }

    private static void dieIfAsked(KillStep step, Path orders) {
        if (Files.exists(orders.resolve(step.name()))) {
            DriverProcess.killThisOne();
        }
    }
}
