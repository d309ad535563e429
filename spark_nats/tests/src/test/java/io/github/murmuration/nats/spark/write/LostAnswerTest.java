// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import static io.github.murmuration.nats.spark.testing.NatsStore.nats;
import static io.github.murmuration.nats.spark.testing.NatsStore.server;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.murmuration.nats.spark.client.Connections;
import io.github.murmuration.nats.spark.client.EventStream;
import io.github.murmuration.nats.spark.testing.SparkTest;
import io.github.murmuration.nats.spark.testing.TestNats;
import java.nio.charset.StandardCharsets;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An answer is lost between the parts of an epoch. */
@Tag("core")
class LostAnswerTest extends SparkTest {
    private static final int ROWS = 30;
    private static final int PART = 10;

    /** Also where an epoch is written whatever is there: that does not mean the parts that this very attempt wrote. */
    @ParameterizedTest
    @EnumSource(value = EpochPlan.Kind.class, names = {"NEW", "AGAIN", "FORCED"})
    void theAttemptGoesOnWhereItWas(EpochPlan.Kind kind) {
        String target = nats().stream(1);
        EpochPlan plan = new EpochPlan(
                UUID.randomUUID().toString(), new EpochRecord(0, 1, "run", new TreeMap<>()), kind);
        Rows rows = new Rows();
        for (int number = 0; number < ROWS; number++) {
            rows.add(null, ("event-" + number).getBytes(StandardCharsets.UTF_8));
        }
        try (var lease = Connections.lease(server().url())) {
            EpochSubject subject = new EpochSubject(lease.connection(), plan, UnknownEpoch.WRITE, PART,
                    new TargetRows.Partition(new EventStream(TestNats.NAMESPACE, target), 0), 0, rows, false);
            writePart(subject);
            subject.lost();
            while (!subject.isWritten()) {
                writePart(subject);
            }
        }
        assertEquals(range(0, ROWS), numbers(target));
    }

    private static void writePart(EpochSubject subject) {
        subject.ask();
        subject.look();
        subject.send();
        subject.await();
    }
}
