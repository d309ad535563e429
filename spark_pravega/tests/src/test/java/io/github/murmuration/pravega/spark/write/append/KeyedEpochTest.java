// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.append;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.testing.LoggedSteps;
import io.github.murmuration.pravega.spark.testing.OpenTransactions;
import io.github.murmuration.pravega.spark.write.epoch.EpochStep;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Small epochs with keys for several segments: they are appended side by side. */
class KeyedEpochTest extends KeyedCopy {
    private static final List<EpochStep> APPENDED = List.of(EpochStep.WRITTEN, EpochStep.APPENDED);

    private final List<EpochStep> steps = new CopyOnWriteArrayList<>();

    @ParameterizedTest
    @ValueSource(ints = {4, 12})
    void aSmallEpochBeginsNoTransaction(int segments) throws Exception {
        target = stream(segments);
        List<String> open = new CopyOnWriteArrayList<>();
        try (LoggedSteps log = new LoggedSteps((step, record) -> {
            steps.add(step);
            open.addAll(OpenTransactions.on(target));
        })) {
            for (int from = 0; from < 120; from += 40) {
                copyMore(from, from + 40);
            }
        }
        assertEquals(List.of(), open);
        assertTrue(steps.stream().allMatch(APPENDED::contains), steps::toString);
        assertEquals(range(0, 120), numbersOfTarget());
        assertEquals(ofEachKey(source), ofEachKey(target));
        Map<Integer, Long> segmentsOfKeys = read(target)
                .selectExpr("int(substring(string(event), 7)) % 16", "segment_id").distinct().collectAsList().stream()
                .collect(Collectors.groupingBy((Row row) -> row.getInt(0), Collectors.counting()));
        assertTrue(segmentsOfKeys.values().stream().allMatch(count -> count == 1), segmentsOfKeys::toString);
    }

    /** Large ones are more than may be appended. */
    @Test
    void keyedAndKeylessAndLargeEpochsFollowEachOther() throws Exception {
        target = stream(4);
        List<String> kinds = List.of("k", "n", "K", "k", "N", "n", "k", "k", "K", "n", "N", "k");
        try (LoggedSteps log = new LoggedSteps((step, record) -> steps.add(step))) {
            for (int epoch = 0; epoch < kinds.size(); epoch++) {
                boolean large = Character.isUpperCase(kinds.get(epoch).charAt(0));
                append(source, 20 * epoch, 20 * epoch + 20);
                run(copy(large ? 1_000_000 : 20, kinds.get(epoch).equalsIgnoreCase("k")));
                assertEquals(large ? EpochStep.COMMITTED : EpochStep.APPENDED, steps.get(steps.size() - 1));
            }
        }
        assertEquals(range(0, 20 * kinds.size()), numbersOfTarget());
        List<Integer> keyed = range(0, kinds.size()).stream()
                .filter(epoch -> kinds.get(epoch).equalsIgnoreCase("k")).toList();
        assertEquals(ofEachKey(source, keyed::contains), ofEachKey(target, keyed::contains));
    }

    /** … goes where all of the epoch would go if none had one. */
    @Test
    void aRowWithoutAKeyAmongOthers() throws Exception {
        target = stream(4);
        append(source, 0, 40);
        run(copy(readStream(source).load().selectExpr("event",
                "if(event like '%5', null, string(event)) AS routing_key")));
        List<Row> segments = read(target).where("event like '%5'").select("segment_id").distinct().collectAsList();
        assertEquals(List.of(0L), segments.stream().map(row -> row.getLong(0)).toList());
        assertEquals(range(0, 40), numbersOfTarget());
    }
}
