// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import static io.github.murmuration.nats.spark.testing.NatsStore.nats;
import static io.github.murmuration.nats.spark.testing.NatsStore.server;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.nats.spark.testing.SparkTest;
import io.github.murmuration.nats.spark.testing.TestNats;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Spark repeats an epoch, as after a driver that died before the checkpoint told of its end. */
class RepeatedEpochTest extends SparkTest {
    @TempDir
    Path folder;
    private String source;
    private String target;

    @BeforeEach
    void writeAnEpoch() throws Exception {
        source = nats().stream(2);
        target = nats().stream(2);
        append(source, 0, 100);
        run(query());
        append(source, 100, 300);
        run(query());
    }

    private Dataset<Row> rows() {
        return readStream(source).load();
    }

    private DataStreamWriter<Row> query() {
        return copy(rows(), target, folder);
    }

    /** As if the newest epochs had not been noted as done. */
    private void forget(int from) throws Exception {
        for (int epoch = from; Files.deleteIfExists(folder.resolve("commits/" + epoch)); epoch++) {
            Files.deleteIfExists(folder.resolve("commits/." + epoch + ".crc"));
        }
    }

    @Test
    @Tag("core")
    void isWrittenOnce() throws Exception {
        forget(1);
        run(query());
        assertEquals(range(0, 300), numbers(target));
        append(source, 300, 400);
        run(query());
        assertEquals(range(0, 400), numbers(target));
    }

    @Test
    @Tag("core")
    void whatIsMissingIsWritten() throws Exception {
        nats().purge(target, 0, nats().state(target, 0).getLastSequence() + 1);
        nats().purge(target, 1, nats().state(target, 1).getLastSequence() + 1);
        forget(1);
        assertRefused(() -> run(query()), "It cannot be known whether epoch 1 was written");
        run(query().option("on_unknown_epoch", "write"));
        assertEquals(range(100, 300), numbers(target));
    }

    @Test
    void anUnknownEpochIsSkippedIfThatIsWanted() throws Exception {
        nats().purge(target, 0, nats().state(target, 0).getLastSequence() + 1);
        nats().purge(target, 1, nats().state(target, 1).getLastSequence() + 1);
        forget(1);
        run(query().option("on_unknown_epoch", "skip"));
        assertEquals(List.of(), numbers(target));
        append(source, 300, 400);
        run(query());
        assertEquals(range(300, 400), numbers(target));
    }

    /** Among more partitions a key would have another. */
    @Test
    @Tag("core")
    void isWrittenOnceWherePartitionsHaveCome() throws Exception {
        append(source, 300, 306);
        run(query());
        nats().create(target, 5, -1);
        forget(2);
        run(query());
        assertEquals(range(0, 306), numbers(target));
        append(source, 306, 406);
        run(query());
        assertEquals(range(0, 406), numbers(target));
        assertTrue(nats().state(target, 4).getMsgCount() > 0);
    }

    @Test
    void isWrittenToAStreamThatWasMadeAnewWithFewerPartitions() throws Exception {
        nats().delete(target);
        nats().create(target, 1, -1);
        forget(1);
        run(query());
        assertEquals(range(100, 300), numbers(target));
        nats().create(target, 3, -1);
        forget(1);
        run(query());
        assertEquals(range(100, 300), numbers(target));
        append(source, 300, 400);
        run(query());
        assertEquals(range(100, 400), numbers(target));
    }

    /** Only what was there before the epoch began is gone. */
    @Test
    void anEpochBehindWhatRetentionRemovedIsKnown() throws Exception {
        nats().purge(target, 0, 20);
        nats().purge(target, 1, 20);
        forget(1);
        run(query());
        assertEquals(range(100, 300), numbers(target).stream().filter(number -> number >= 100).toList());
    }

    @Test
    void rowsThatAreNotThereAreWritten() throws Exception {
        long first = nats().state(target, 0).getLastSequence();
        nats().deleteMessage(target, 0, first - 3);
        nats().deleteMessage(target, 0, first - 8);
        forget(1);
        run(query());
        assertEquals(range(0, 300), numbers(withGaps()));
    }

    /** As if epochs had not been noted as done, and the newest of them not been planned. */
    private void setBack(int done, int planned) throws Exception {
        forget(done);
        for (int epoch = planned; Files.deleteIfExists(folder.resolve("offsets/" + epoch)); epoch++) {
            Files.deleteIfExists(folder.resolve("offsets/." + epoch + ".crc"));
        }
    }

    /** Epoch 1 comes again as it was, epoch 2 with more events than before. */
    private void setBackByTwo() throws Exception {
        append(source, 300, 350);
        run(query());
        setBack(1, 2);
        append(source, 350, 360);
        assertRefused(() -> run(query()), "It cannot be known whether epoch 1 was written: epoch 2 has begun already "
                + "(was the checkpoint set back?)");
        assertEquals(range(0, 350), numbers(target));
    }

    @Test
    @Tag("core")
    void aCheckpointThatWasSetBackWritesNothingTwice() throws Exception {
        setBackByTwo();
        run(query().option("on_unknown_epoch", "skip"));
        assertEquals(range(0, 350), numbers(target));
        append(source, 360, 370);
        run(query());
        assertEquals(range(360, 370), numbers(target).stream().filter(number -> number >= 350).toList());
    }

    @Test
    void aCheckpointThatWasSetBackLosesNothing() throws Exception {
        setBackByTwo();
        run(query().option("on_unknown_epoch", "write"));
        assertEquals(range(0, 360), numbers(target).stream().distinct().toList());
    }

    /** The newest epoch is planned anew, with more events than before. */
    @Test
    void aCheckpointThatWasSetBackByOneLosesNothing() throws Exception {
        setBack(1, 1);
        append(source, 300, 350);
        assertRefused(() -> run(query()), "It cannot be known whether epoch 1 was written: ");
        assertEquals(range(0, 300), numbers(target));
        run(query().option("on_unknown_epoch", "write"));
        assertEquals(range(0, 350), numbers(target).stream().distinct().toList());
    }

    /** As the epoch was before, it is there. */
    @Test
    void anEpochThatIsPlannedAnewAsItWasIsWrittenOnce() throws Exception {
        setBack(1, 1);
        run(query());
        assertEquals(range(0, 300), numbers(target));
    }

    @Test
    void otherTasksThanBeforeAreAnUnknownEpoch() throws Exception {
        forget(1);
        assertRefused(() -> run(copy(rows().repartition(5), target, folder)),
                "it was begun by 2 tasks and comes again with 5, and something of it is in " + TestNats.NAMESPACE);
        run(copy(rows().repartition(5), target, folder).option("on_unknown_epoch", "skip"));
        append(source, 300, 400);
        run(copy(rows().repartition(3), target, folder));
        assertEquals(range(0, 400), numbers(target));
    }

    /** What is noted of its streams may be older than the epoch before it. */
    @Test
    void otherTasksWriteWhatWasBegunOnly() throws Exception {
        append(source, 300, 400);
        run(copy(readStream(source).option("max_events_per_trigger", "50").load(), target, folder));
        for (int partition = 0; partition < 2; partition++) {
            for (long sequence = nats().state(target, partition).getLastSequence(); isOf(3, partition, sequence);) {
                nats().deleteMessage(target, partition, sequence--);
            }
        }
        forget(3);
        run(copy(rows().repartition(5), target, folder));
        assertEquals(range(0, 400), numbers(withGaps()));
    }

    private boolean isOf(int epoch, int partition, long sequence) throws Exception {
        return Integer.toString(epoch).equals(nats().management()
                .getMessage(TestNats.jetStream(target, partition), sequence).getHeaders().getFirst("Epoch"));
    }

    private Dataset<Row> withGaps() {
        return spark().read().format("nats").option("servers", server().url())
                .option("namespace", TestNats.NAMESPACE).option("stream", target)
                .option("fail_on_data_loss", "false").load();
    }

    @Test
    void otherTasksWriteWhatWasNotBegun() throws Exception {
        append(source, 300, 400);
        run(copy(rows().repartition(5), target, folder));
        assertEquals(range(0, 400), numbers(target));
    }
}
