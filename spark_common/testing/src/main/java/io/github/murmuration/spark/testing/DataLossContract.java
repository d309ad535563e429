// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A stream that a query reads is deleted and created anew, whatever the store. */
public abstract class DataLossContract extends SourceTest {
    /** Events that the query has copied before: 0 to 9 of one partition, 10 to 19 of the other. */
    protected static final int COPIED = 20;

    @TempDir
    protected Path folder;
    protected String source;
    protected String target;

    protected DataLossContract(TestStore store) {
        super(store);
    }

    @BeforeEach
    void copyTheFirst() throws Exception {
        source = store().stream(2);
        target = store().stream(1);
        store().publish(source, 0, 0, 10);
        store().publish(source, 1, 10, 20);
        run(query(true));
        assertEquals(range(0, COPIED), numbers(target));
    }

    protected final DataStreamWriter<Row> query(boolean fails) {
        return copy(readStream(source).option("fail_on_data_loss", Boolean.toString(fails)).load(), target, folder);
    }

    /** What came after the first ones. */
    protected final List<Integer> copiedSince() {
        List<Integer> numbers = numbers(target);
        assertEquals(range(0, COPIED), numbers.subList(0, COPIED));
        return numbers.subList(COPIED, numbers.size());
    }

    private void assertNoticed(DataStreamWriter<Row> going, List<Integer> since) throws Exception {
        assertRefused(() -> run(query(true)), source + " was deleted and created anew");
        run(going);
        assertEquals(since, copiedSince());
    }

    @Test
    void aStreamThatWasCreatedAnewIsNoticed() throws Exception {
        store().createAnew(source, 2);
        store().publish(source, 0, 100, 105);
        assertNoticed(query(false), range(100, 105));
        store().publish(source, 1, 105, 107);
        run(query(true));
        assertEquals(range(100, 107), copiedSince());
    }

    /** Events 100 to 159, so that its offsets look like those of the old one. */
    private void createAnewAndBeyond() {
        store().createAnew(source, 2);
        store().publish(source, 0, 100, 130);
        store().publish(source, 1, 130, 160);
    }

    @Test
    void aStreamThatWasCreatedAnewAndHasGrownBeyondIsNoticed() throws Exception {
        createAnewAndBeyond();
        assertNoticed(query(false), range(100, 160));
    }

    /** The batch was planned, and not done. Other tasks than before would be an unknown epoch to a sink. */
    @Test
    void aStreamThatIsCreatedAnewInTheMiddleIsNoticed() throws Exception {
        undoTheFirstBatch(folder);
        createAnewAndBeyond();
        assertNoticed(query(false).option("exactly_once", "false"), range(100, 160));
    }

    @Test
    void aStreamThatIsCreatedAnewInTheMiddleWithFewerPartitionsIsNoticed() throws Exception {
        undoTheFirstBatch(folder);
        store().createAnew(source, 1);
        store().publish(source, 0, 100, 130);
        assertNoticed(query(false).option("exactly_once", "false"), range(100, 130));
    }

    /** By a task of a read that was planned before. */
    @Test
    void aStreamThatIsCreatedAnewBehindThePlanIsNoticed() {
        RDD<InternalRow> planned = read(source).queryExecution().toRdd();
        assertEquals(2, planned.partitions().length);
        createAnewAndBeyond();
        assertRefused(planned::count, "_DATA_LOSS: ");
    }

    @Test
    void aStreamThatWasCreatedAnewWithFewerPartitionsIsReadOn() throws Exception {
        store().createAnew(source, 1);
        store().publish(source, 0, 100, 105);
        assertNoticed(query(false), range(100, 105));
        store().publish(source, 0, 105, 110);
        run(query(true));
        assertEquals(range(100, 110), copiedSince());
    }
}
