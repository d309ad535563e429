// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.cluster;

import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQuery;

/** A driver with executors: writes the epochs of {@link PlannedSource}, and ends when all are done. */
final class ClusterDriver {
    /** What it prints when its query runs. */
    static final String STARTED = "the query has started";
    /** As long as a restart takes, about: some transactions of a killed driver have expired when it is back. */
    static final long LEASE_MS = 15_000;

    private ClusterDriver() {
    }

    /** Arguments: seed, rows, target, checkpoint. */
    public static void main(String[] arguments) throws Exception {
        try (Cluster cluster = Cluster.local()) {
            Configurator.setLevel("io.github.murmuration.pravega.spark", Level.DEBUG);
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
}
