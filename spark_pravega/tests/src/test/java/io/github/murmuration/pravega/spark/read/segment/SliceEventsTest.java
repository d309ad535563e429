// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.segment;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.pravega.client.stream.StreamCut;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Slices whose last bytes the server answers with bytes from behind them. */
@Tag("core")
class SliceEventsTest extends SparkTest {
    /** What the server answers with at most, where a slice has as much. */
    private static final int ANSWER_BYTES = 1 << 20;
    private static final int HEADER_BYTES = 8;
    private static final int EVENT_BYTES = 1 << 17;

    /** The server never answers with less than an event's header, if there is as much; here fewer bytes are left. */
    @ParameterizedTest
    @ValueSource(ints = {1, 4, 7})
    void aSliceThatEndsWithFewBytesOfAnAnswerIsReadToItsEnd(int left) {
        String stream = stream(1);
        List<Integer> lengths =
                new ArrayList<>(Collections.nCopies(5 * ANSWER_BYTES / EVENT_BYTES, EVENT_BYTES - HEADER_BYTES));
        lengths.set(0, lengths.get(0) + left);
        write(stream, lengths);
        StreamCut end = streams().fetchStreamInfo(SCOPE, stream).join().getTailStreamCut();
        write(stream, List.of(100));

        List<Integer> found = spark().read().format("pravega").option("controller", DurablePravega.controllerUri())
                .option("scope", SCOPE).option("stream", stream).option("end_stream_cut", end.asText()).load()
                .orderBy("offset").selectExpr("length(event)").as(Encoders.INT()).collectAsList();

        assertEquals(lengths, found);
    }

    private static void write(String stream, List<Integer> lengths) {
        Dataset<Row> events =
                spark().createDataset(lengths, Encoders.INT()).coalesce(1).selectExpr("repeat('x', value) AS event");
        writer(events, stream).save();
    }
}
