// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Streaming queries from one stream to another, whatever the store. */
public abstract class StreamingContract extends SourceTest {
    @TempDir
    protected Path folder;

    protected StreamingContract(TestStore store) {
        super(store);
    }

    @Test
    void aQueryCopiesWhatThereIsAndWhatComes() throws Exception {
        String source = store().stream(3);
        String target = store().stream(2);
        append(source, 0, 500);
        StreamingQuery query = copy(readStream(source).load(), target, folder).start();
        try {
            query.processAllAvailable();
            assertEquals(range(0, 500), numbers(target));
            append(source, 500, 900);
            settle(query);
        } finally {
            query.stop();
        }
        assertEquals(range(0, 900), numbers(target));
        append(source, 900, 1000);
        run(copy(readStream(source).load(), target, folder));
        assertEquals(range(0, 1000), numbers(target));
        assertTrue(Files.readAllLines(folder.resolve("offsets/0")).get(2)
                .matches("\\{\"life\":\"[^\"]+\",\"next\":\\[\\d+,\\d+,\\d+]}"));
        long first = store().firstOffset();
        assertTrue(Files.readString(folder.resolve("sources/0/initial-offset"))
                .endsWith("\"next\":[" + first + "," + first + "," + first + "]}"));
    }

    @Test
    void availableNowEndsWithWhatThereWas() throws Exception {
        String source = store().stream(2);
        String target = store().stream(2);
        append(source, 0, 300);
        StreamingQuery query = copy(readStream(source).option("max_events_per_trigger", "70").load(), target, folder)
                .trigger(Trigger.AvailableNow()).start();
        query.awaitTermination();
        assertEquals(range(0, 300), numbers(target));
    }

    @Test
    void latestIsFixedWhenTheQueryFirstBegins() throws Exception {
        String source = store().stream(2);
        String target = store().stream(1);
        append(source, 0, 100);
        run(copy(readStream(source).option("starting_offsets", "latest").load(), target, folder));
        append(source, 100, 150);
        run(copy(readStream(source).option("starting_offsets", "latest").load(), target, folder));
        assertEquals(range(100, 150), numbers(target));
    }

    @Test
    void anUpdatedOrCompleteResultIsAppended() throws Exception {
        for (String mode : List.of("update", "complete")) {
            String source = store().stream(2);
            String target = store().stream(2);
            append(source, 0, 30);
            run(copy(readStream(source).load().groupBy().count().selectExpr("string(count) AS event"), target,
                    folder.resolve(mode)).outputMode(mode));
            assertEquals(List.of("30"), texts(read(target)));
        }
    }
}
