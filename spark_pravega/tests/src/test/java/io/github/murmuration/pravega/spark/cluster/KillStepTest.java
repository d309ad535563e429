// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.murmuration.pravega.spark.cluster.KilledCluster.Death;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The step is told from what one driver has logged, and the one after it. */
@Tag("core")
class KillStepTest {
    private static final Death IN_EPOCH_12 = new Death(0, 12, 11, Map.of());

    @ParameterizedTest
    @CsvSource({
        "'',                 written appended,           false, IN_TASKS",
        "'',                 written recorded committed, false, IN_TASKS",
        "written,            written recorded committed, false, BEFORE_RECORD",
        "written,            written found committed,    false, RECORDED",
        "written recorded,   written found committed,    true,  RECORDED",
        "written committed,  written found committed,    true,  COMMITTED",
        "written,            written appended,           false, IN_APPEND",
        "written,            written appended,           true,  APPENDED_ANSWER_LOST",
        "written,            written recorded committed, true,  APPENDED_ANSWER_LOST",
        "written appended,   written appended,           true,  APPENDED",
        "'',                 '',                         false, UNTOLD"})
    void whereADriverWasKilled(String logged, String loggedNext, boolean wasThere, KillStep step) {
        assertEquals(step, KillStep.of(IN_EPOCH_12, log(logged), List.of(log(""), log(loggedNext)), wasThere));
    }

    @Test
    void theNextDriverMayBeKilledInTheSameEpoch() {
        List<List<String>> later = List.of(log("written"), log("written appended"));
        assertEquals(KillStep.IN_APPEND, KillStep.of(IN_EPOCH_12, log("written"), later, false));
    }

    private static List<String> log(String steps) {
        Stream<String> twelve = Stream.of(steps.split(" ")).filter(step -> !step.isEmpty())
                .map(step -> step.equals("found")
                ? "Epoch 12 was recorded by an earlier attempt, which is completed now"
                : "Epoch 12 of query 0-1 is " + step.toUpperCase(Locale.ROOT) + ": EpochRecord[epoch=12]");
        return Stream.concat(Stream.of("Epoch 11 of query 0-1 is APPENDED", "Epoch 1 of query 0-1 is RECORDED"), twelve)
                .toList();
    }
}
