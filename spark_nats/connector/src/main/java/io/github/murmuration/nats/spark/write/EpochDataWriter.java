// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import io.github.murmuration.nats.spark.NatsException;
import io.github.murmuration.nats.spark.NatsOptions;
import io.github.murmuration.nats.spark.client.ApiException;
import io.github.murmuration.nats.spark.client.Connections;
import io.github.murmuration.nats.spark.client.EventStream;
import io.github.murmuration.nats.spark.client.NatsConnection;
import io.github.murmuration.nats.spark.client.Partitions;
import io.github.murmuration.nats.spark.client.UnansweredException;
import io.github.murmuration.spark.common.client.Leases;
import io.github.murmuration.spark.common.client.Patience;
import io.github.murmuration.spark.common.write.EventColumns;
import io.github.murmuration.spark.common.write.Written;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps the rows of one task attempt, and writes them when it has all. */
final class EpochDataWriter implements DataWriter<InternalRow> {
    private static final Logger LOG = LoggerFactory.getLogger(EpochDataWriter.class);
    /** Attempts that ran before this one may write once more each; who is fenced more often than that gives up. */
    private static final int FENCED = 5;

    private final NatsOptions options;
    private final EpochPlan plan;
    private final int task;
    private final boolean doubtful;
    private final Leases.Lease<NatsConnection> lease;
    private final TargetRows rows;
    private int fenced;

    /** @param repeated whether an attempt of the task ran before */
    EpochDataWriter(NatsOptions options, EventColumns columns, EpochPlan plan, int task, boolean repeated) {
        this.options = options;
        this.plan = plan;
        this.task = task;
        doubtful = repeated || plan.kind() == EpochPlan.Kind.AGAIN;
        lease = Connections.lease(options.servers());
        rows = new TargetRows(options, columns, this::partitions, true);
    }

    private int partitions(EventStream stream) {
        int noted = plan.record().partitions(stream);
        return noted > 0 ? noted : Partitions.all(lease.connection(), stream).size();
    }

    @Override
    public void write(InternalRow row) {
        if (plan.kind() != EpochPlan.Kind.SKIPPED) {
            rows.add(row);
        }
    }

    @Override
    public WriterCommitMessage commit() {
        List<EpochSubject> subjects = new ArrayList<>();
        rows.forEach((partition, its) -> subjects.add(new EpochSubject(lease.connection(), plan,
                options.onUnknownEpoch(), options.batchEvents(), partition, task, its, doubtful)));
        Patience patience = new Patience();
        while (!subjects.isEmpty()) {
            try {
                writeParts(subjects);
                patience.succeeded();
            } catch (UnansweredException failed) {
                again(subjects, failed, patience);
            } catch (ApiException failed) {
                if (failed.isFenced() && ++fenced > FENCED || !failed.isFenced() && !failed.isPassing()) {
                    throw failed;
                }
                again(subjects, failed, patience);
            }
        }
        return Written.INSTANCE;
    }

    /** One part for each, side by side; those that have all of theirs are left out from then on. */
    private static void writeParts(List<EpochSubject> subjects) {
        subjects.forEach(EpochSubject::ask);
        subjects.forEach(EpochSubject::look);
        subjects.removeIf(EpochSubject::isWritten);
        subjects.forEach(EpochSubject::send);
        subjects.forEach(EpochSubject::await);
        subjects.removeIf(EpochSubject::isWritten);
    }

    private void again(List<EpochSubject> subjects, NatsException failed, Patience patience) {
        LOG.warn("Epoch {} of query {}: {}. Looking what is there", plan.epoch(), plan.query(), failed.getMessage());
        subjects.forEach(EpochSubject::lost);
        patience.pauseAfter(failed);
    }

    /** What was written stays: the repetition of the epoch finds it. */
    @Override
    public void abort() {
        // Nothing to take back.
    }

    @Override
    public void close() {
        lease.close();
    }
}
