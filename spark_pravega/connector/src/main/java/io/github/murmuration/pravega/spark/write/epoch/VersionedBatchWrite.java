// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.client.SideBySide;
import io.github.murmuration.pravega.spark.write.transaction.TransactionId;
import io.github.murmuration.pravega.spark.write.transaction.TransactionalWrites;
import io.github.murmuration.pravega.spark.write.transaction.Transactions;
import io.github.murmuration.pravega.spark.write.transaction.WrittenRows;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a DataFrame once, however often it is repeated under its version, as a function of foreachBatch is: to each of
 * its streams as an epoch of its own, whose number is the version.
 */
public final class VersionedBatchWrite implements BatchWrite {
    private static final Logger LOG = LoggerFactory.getLogger(VersionedBatchWrite.class);

    private final TransactionalWrites writes;
    private final BatchVersion version;
    private final List<EpochCommit> commits = new CopyOnWriteArrayList<>();

    public VersionedBatchWrite(TransactionalWrites writes, BatchVersion version) {
        this.writes = writes;
        this.version = version;
    }

    @Override
    public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
        return writes.writerFactory();
    }

    @Override
    public void commit(WriterCommitMessage[] messages) {
        List<TransactionId> written = WrittenRows.transactions(messages);
        try (Connections.Lease lease = writes.lease()) {
            writes.transactions(lease).renew(written);
            Map<String, List<TransactionId>> streams =
                    written.stream().collect(Collectors.groupingBy(TransactionId::stream));
            Uninterrupted.call(() -> SideBySide.map(List.copyOf(streams.entrySet()),
                    each -> commit(lease, each.getKey(), each.getValue())));
        }
        writes.end();
    }

    /** Whether the stream gets these transactions, or those of an attempt before. */
    private boolean commit(Connections.Lease lease, String stream, List<TransactionId> written) {
        Transactions transactions = writes.transactions(lease);
        EpochLog log = new EpochLog(lease.connection(), writes.options().scope(), version.recordOf(stream));
        EpochRecord last = log.read().orElse(EpochRecord.NONE);
        if (version.isIn(last)) {
            LOG.info("{} is skipped: {} has got version {} of it", version, stream, last.epoch());
            transactions.abort(written);
            return false;
        }
        EpochCommit commit = new EpochCommit(log, transactions, new EpochRecord(version.number(), written),
                earlier -> written, writes.options().onUnknownEpoch());
        commits.add(commit);
        commit.run();
        commit.awaitMark();
        return true;
    }

    /** Spark also calls it when the commit failed; a transaction that may be recorded must not be aborted then. */
    @Override
    public void abort(WriterCommitMessage[] messages) {
        if (commits.stream().anyMatch(EpochCommit::hasBegun)) {
            writes.letGo();
        } else {
            writes.abort(WrittenRows.transactions(messages));
        }
    }
}
