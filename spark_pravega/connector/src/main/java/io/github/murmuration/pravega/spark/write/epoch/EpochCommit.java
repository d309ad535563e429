// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import io.github.murmuration.pravega.spark.client.Waiting;
import io.github.murmuration.pravega.spark.write.append.NamedSegments;
import io.github.murmuration.pravega.spark.write.transaction.TransactionId;
import io.github.murmuration.pravega.spark.write.transaction.Transactions;
import io.pravega.client.stream.Transaction.Status;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commits an epoch as a whole and once: first its transactions are recorded, then they are committed.
 *
 * <p>A driver that repeats an epoch after a crash finds the record of the earlier attempt, finishes that attempt and
 * drops its own transactions, which hold the same rows. That all are committed is recorded too, because Pravega forgets
 * ended transactions after a while, and the query may be restarted long after. Nobody waits for that: until it is
 * recorded, Pravega knows it.
 */
final class EpochCommit {
    private static final Logger LOG = LoggerFactory.getLogger(EpochCommit.class);
    private static final Set<Status> LOST = EnumSet.of(Status.ABORTING, Status.ABORTED);
    private static final Set<Status> DONE = EnumSet.of(Status.COMMITTING, Status.COMMITTED);

    private final EpochLog log;
    private final Transactions transactions;
    private final EpochRecord written;
    private final Function<NamedSegments, List<TransactionId>> unappended;
    private final UnknownEpoch onUnknown;
    /** All transactions of this attempt. */
    private final Set<TransactionId> own;
    private volatile boolean begun;
    private CompletableFuture<?> marked = CompletableFuture.completedFuture(null);

    /**
     * @param unappended sees to it that no more of the epoch is appended to segments that an earlier record names, and
     *     tells what holds the rest of it: all that was written, nothing, or transactions that it writes for that
     */
    EpochCommit(EpochLog log, Transactions transactions, EpochRecord written,
            Function<NamedSegments, List<TransactionId>> unappended, UnknownEpoch onUnknown) {
        this.log = log;
        this.transactions = transactions;
        this.written = written;
        this.unappended = unappended;
        this.onUnknown = onUnknown;
        own = new LinkedHashSet<>(written.transactions());
    }

    void run() {
        EpochStep.WRITTEN.reached(log.query(), written);
        EpochRecord decided = decide();
        EpochStep.RECORDED.reached(log.query(), decided);
        if (!decided.committed()) {
            transactions.commit(open(decided.transactions()));
            marked = log.replaceMeanwhile(decided.asCommitted());
        }
        EpochStep.COMMITTED.reached(log.query(), decided);
        transactions.abort(without(own, decided.transactions()));
    }

    /** Waits for the mark of the commit, which nothing may follow soon that would stand for it. */
    void awaitMark() {
        Waiting.on(marked);
    }

    /** Whether a record may name the transactions: from then on they must not be aborted. */
    boolean hasBegun() {
        return begun;
    }

    /** The transactions that make up the epoch, durably recorded. */
    private EpochRecord decide() {
        EpochRecord decision;
        do {
            EpochRecord earlier = log.read().orElse(EpochRecord.NONE);
            earlier.requireNotAfter(written.epoch());
            decision = earlier.epoch() == written.epoch() ? repaired(earlier) : after(earlier);
            if (decision.equals(earlier)) {
                LOG.info("Epoch {} was recorded by an earlier attempt, which is completed now", written.epoch());
                return decision;
            }
            begun = true;
        } while (!log.replace(decision));
        return decision;
    }

    /** What this attempt wrote, but for what an earlier one has appended. */
    private EpochRecord after(EpochRecord earlier) {
        List<TransactionId> rest = unappended.apply(earlier.appendedTo());
        boolean isPart = !rest.isEmpty() && !rest.equals(written.transactions());
        own.addAll(rest);
        return new EpochRecord(written.epoch(), false, rest, isPart ? earlier.appendedTo() : NamedSegments.NONE);
    }

    /**
     * The earlier attempt with transactions of this one in place of those that expired before they were committed. If
     * none of it was committed, this attempt alone, but for what was appended before.
     */
    private EpochRecord repaired(EpochRecord earlier) {
        if (earlier.committed()) {
            return earlier;
        }
        Map<TransactionId, Status> statuses = transactions.statuses(earlier.transactions(), written.epoch());
        if (statuses.values().stream().noneMatch(LOST::contains)) {
            return earlier;
        }
        if (statuses.values().stream().noneMatch(DONE::contains)) {
            LOG.info("Nothing of the earlier attempt at epoch {} is committed, and a part has expired: it is aborted",
                    written.epoch());
            statuses = transactions.aborted(earlier.transactions(), written.epoch());
        }
        // The driver of the earlier attempt may live, and have committed a part before it was aborted.
        return statuses.values().stream().noneMatch(DONE::contains) ? after(earlier) : mended(earlier, statuses);
    }

    private EpochRecord mended(EpochRecord earlier, Map<TransactionId, Status> statuses) {
        List<TransactionId> spare = new ArrayList<>(written.transactions());
        List<TransactionId> whole = new ArrayList<>();
        for (TransactionId each : earlier.transactions()) {
            if (!LOST.contains(statuses.get(each))) {
                whole.add(each);
                continue;
            }
            Optional<TransactionId> substitute = spare.stream().filter(each::holdsSameRowsAs).findFirst();
            substitute.ifPresent(spare::remove);
            substitute.ifPresent(whole::add);
            if (substitute.isEmpty() && UnknownEpoch.WRITE == onUnknown.decide(written.epoch(), "a part of it was "
                    + "committed, and " + each + " expired before its commit; the repetition of the epoch has no equal "
                    + "part")) {
                whole.removeIf(written.transactions()::contains);
                whole.addAll(written.transactions());
                return new EpochRecord(written.epoch(), whole);
            }
        }
        return new EpochRecord(written.epoch(), whole);
    }

    private List<TransactionId> open(List<TransactionId> decided) {
        if (own.containsAll(decided)) {
            return decided;
        }
        Map<TransactionId, Status> statuses = transactions.statuses(decided, written.epoch());
        return without(decided, decided.stream().filter(each -> statuses.get(each) == Status.COMMITTED).toList());
    }

    private static List<TransactionId> without(Collection<TransactionId> all, List<TransactionId> some) {
        return all.stream().filter(each -> !some.contains(each)).toList();
    }
}
