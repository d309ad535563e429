// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.cluster.KilledCluster.Death;
import io.github.murmuration.pravega.spark.testing.OpenTransactions;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Exactly once in a long query, while somebody else writes to the same segments without a pause, and drivers and
 * executors are killed: epochs of all kinds follow each other, so kills come that no one thought of. What a kill met is
 * counted from what the drivers have logged.
 *
 * <p>The properties {@code pravega.test.seeds}, {@code .rows}, {@code .segments}, {@code .kills} (of drivers, and of
 * executors) and {@code .beside} (events of the other writer under way in each segment) make it another run.
 */
@Tag("long")
class KilledClusterTest extends SparkTest {
    private static final Logger LOG = LoggerFactory.getLogger(KilledClusterTest.class);
    private static final long ROWS = Long.getLong("pravega.test.rows", 1_000_000);
    private static final int SEGMENTS = Integer.getInteger("pravega.test.segments", 12);
    private static final int KILLS = Integer.getInteger("pravega.test.kills", 6);
    private static final int BESIDE = Integer.getInteger("pravega.test.beside", 2);
    private static final Duration UNTIL_EXPIRED = Duration.ofMillis(ClusterDriver.LEASE_MS).plusSeconds(20);

    private static final Map<KillStep, Integer> ALL_STEPS = new EnumMap<>(KillStep.class);

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    Path folder;

    static LongStream seeds() {
        return Stream.of(System.getProperty("pravega.test.seeds", "1,2,3").split(",")).mapToLong(Long::parseLong);
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void everyRowIsThereOnceAndInTheOrderOfItsKey(long seed) throws Exception {
        String target = stream(SEGMENTS);
        List<PlannedEpoch> epochs = PlannedEpoch.all(seed, ROWS);
        try (SteadyWriter beside = new SteadyWriter(target, BESIDE);
                KilledCluster cluster = new KilledCluster(folder, seed, ROWS, target)) {
            cluster.runToTheEnd(Kill.some(seed, epochs, KILLS));
            long writtenBeside = beside.end();

            StreamContents contents = new StreamContents(target, cluster.deaths().stream()
                    .map(death -> firstRow(death, epochs)).collect(Collectors.toSet()));
            Map<KillStep, Integer> steps = steps(cluster, epochs, contents);
            steps.forEach((step, deaths) -> ALL_STEPS.merge(step, deaths, Integer::sum));
            LOG.info("Seed {}: {} epochs; drivers killed: {}, executors: {}; the longest pause {} of at most {}; "
                    + "{} events beside", seed, epochs.size(), steps, cluster.executorsKilled(), cluster.longestPause(),
                    cluster.epochLimit(), writtenBeside);

            assertEquals(List.of(), contents.faults(ROWS, writtenBeside));
            assertEquals(KILLS, cluster.deaths().size());
            assertEquals(KILLS, cluster.executorsKilled());
            assertTrue(BESIDE == 0 || writtenBeside > epochs.size());
            assertEquals(List.of(), cluster.remaining());
            assertFalse(steps.containsKey(KillStep.UNTOLD), steps::toString);
        }
        OpenTransactions.assertNoneRemains(target, UNTIL_EXPIRED);
    }

    @AfterAll
    static void driversWereKilledInEachStep() {
        List<KillStep> sought = KillStep.SOUGHT.subList(0, Math.min(KILLS, KillStep.SOUGHT.size()));
        assertTrue(ALL_STEPS.keySet().containsAll(sought), () -> "drivers were killed in " + ALL_STEPS);
    }

    private static Map<KillStep, Integer> steps(
            KilledCluster cluster, List<PlannedEpoch> epochs, StreamContents contents) throws IOException {
        Map<KillStep, Integer> steps = new EnumMap<>(KillStep.class);
        List<List<String>> logs = cluster.logs();
        for (Death death : cluster.deaths()) {
            List<List<String>> later = logs.subList(death.driver() + 1, logs.size());
            boolean wasThere = contents.isBefore(death.ends(), firstRow(death, epochs));
            steps.merge(KillStep.of(death, logs.get(death.driver()), later, wasThere), 1, Integer::sum);
        }
        return steps;
    }

    private static long firstRow(Death death, List<PlannedEpoch> epochs) {
        return epochs.get((int) death.begun()).from();
    }
}
