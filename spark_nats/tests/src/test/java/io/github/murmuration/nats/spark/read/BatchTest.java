// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.read;

import static io.github.murmuration.nats.spark.testing.NatsStore.nats;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.murmuration.nats.spark.testing.NatsStore;
import io.github.murmuration.spark.testing.BatchContract;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.RowFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Batches that are written and read. */
@Tag("core")
class BatchTest extends BatchContract {
    BatchTest() {
        super(NatsStore.STORE);
    }

    @Override
    protected Map<String, String> inPieces() {
        return Map.of("batch_events", "100");
    }

    @Test
    void offsetsCountFromOne() {
        String stream = nats().stream(1);
        append(stream, 0, 3);
        assertEquals(List.of(1L, 2L, 3L), read(stream).select("offset").orderBy("offset").as(Encoders.LONG())
                .collectAsList());
    }

    /** Of other clients: a space as + and as %20, and what URLEncoder leaves as it is. */
    @Test
    void keysOfOtherEncodersAreRead() {
        String stream = nats().stream(1);
        String key = "a b+c/ü~*";
        nats().publish(stream, 0, URLEncoder.encode(key, StandardCharsets.UTF_8), new byte[] {1});
        nats().publish(stream, 0, "a%20b%2Bc/%C3%BC~%2A", new byte[] {2});
        assertEquals(List.of(RowFactory.create(key), RowFactory.create(key)),
                read(stream).select("key").collectAsList());
    }

    @Test
    void whatNatsCannotTakeIsRefused() {
        String stream = nats().stream(1);
        assertRefused(() -> read("no-such-stream").count(), "there is no stream test_ns/no-such-stream");
        assertRefused(() -> read("no_such").count(), "the name of a stream consists of letters, digits and -");
        assertRefused(() -> writer(events(stream, 0, 1), stream).option("batch_events", "0").save(), "batch_events");
        assertRefused(() -> writer(events(stream, 0, 30000), stream).option("batch_events", "20000").save(),
                "max_msgs: N");
    }
}
