// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import java.nio.file.Path;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is written by whom: rows that fit and rows that do not, and several queries at once. */
class WritesTest extends SparkTest {
    @TempDir
    Path checkpoints;

    @ParameterizedTest
    @CsvSource({"errorifexists, Append", "ignore, Append", "overwrite, use INSERT INTO or mode append"})
    void aBatchIsWrittenInModeAppendOnly(String mode, String answer) {
        String stream = stream(1);
        append(stream, 0, 5);
        assertRefused(() -> writer(events(stream, 5, 9).drop("stream"), stream).mode(mode).save(), answer);
        assertEquals(range(0, 5), numbers(stream));
    }

    @ParameterizedTest
    @CsvSource({
        "'event AS value', the column event is missing",
        "'1 AS event', the column event is of type int",
        "'event, 7 AS routing_key', the column routing_key is of type int",
        "'if(event = ''event-3'', NULL, event) AS event', the column event is null",
        "'event', neither the option stream nor the column stream",
        "'event, 8 AS stream', the column stream is of type int",
        "'event, if(event = ''event-3'', NULL, stream) AS stream', the column stream is null",
    })
    void rowsThatDoNotFitAreRefused(String columns, String answer) {
        String stream = stream(1);
        Map<String, String> options = columns.contains("stream") || columns.equals("event")
                ? Map.of() : Map.of("stream", stream);
        for (String exactlyOnce : new String[] {"true", "false"}) {
            assertRefused(() -> events(stream, 0, 5).selectExpr(columns.split(",(?![^(]*\\))")).write()
                    .format("pravega").mode("append").option("controller", DurablePravega.controllerUri())
                    .option("scope", SCOPE).option("exactly_once", exactlyOnce).options(options).save(), answer);
        }
    }

    @Test
    void aQueryWhoseRowsDoNotFitFails() throws Exception {
        String stream = stream(1);
        append(stream, 0, 5);
        assertRefused(() -> {
            StreamingQuery query = copyWithoutKeys(
                    readStream(stream).load().selectExpr("offset AS event"), stream(1), checkpoints).start();
            query.processAllAvailable();
        }, "the column event is of type bigint");
    }

    @ParameterizedTest
    @ValueSource(strings = {"scope", "stream"})
    void aReadNamesTheOptionThatIsMissing(String option) {
        assertRefused(() -> spark().read().format("pravega").option("controller", DurablePravega.controllerUri())
                .option(option.equals("scope") ? "stream" : "scope", SCOPE).load().count(),
                "option " + option + " is missing");
    }

    @Test
    void aStreamIsJoinedWithItselfUpToOneEnd() throws Exception {
        String source = stream(2);
        String target = stream(1);
        append(source, 0, 30);
        Dataset<Row> events = readStream(source).option("max_events_per_trigger", "10").load();
        Dataset<Row> joined = events.selectExpr("string(event) AS event")
                .join(events.selectExpr("string(event) AS same"))
                .where("event = same").select("event");
        StreamingQuery query = copyWithoutKeys(joined, target, checkpoints).start();
        query.processAllAvailable();
        append(source, 30, 40);
        query.processAllAvailable();
        query.stop();
        assertEquals(range(0, 40), numbers(target));
    }

    @Test
    void twoQueriesWriteOneStream() throws Exception {
        String one = stream(1);
        String other = stream(1);
        String target = stream(2);
        append(one, 0, 200);
        append(other, 200, 400);
        StreamingQuery first = small(one, target, "first");
        StreamingQuery second = small(other, target, "second");
        first.processAllAvailable();
        second.processAllAvailable();
        append(one, 400, 450);
        append(other, 450, 500);
        first.processAllAvailable();
        second.processAllAvailable();
        first.stop();
        second.stop();
        assertEquals(range(0, 500), numbers(target));
    }

    private StreamingQuery small(String source, String target, String name) throws Exception {
        return copyWithoutKeys(readStream(source).option("max_events_per_trigger", "25").load().select("event"),
                target, checkpoints.resolve(name)).trigger(Trigger.ProcessingTime(0)).start();
    }
}
