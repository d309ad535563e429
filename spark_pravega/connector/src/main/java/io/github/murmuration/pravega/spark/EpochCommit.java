package io.github.murmuration.pravega.spark;

import io.pravega.client.stream.Transaction.Status;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
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
    private final Predicate<EpochRecord> appended;

    /** @param appended whether the epoch was appended, to the segment which the given record of an earlier one names */
    EpochCommit(EpochLog log, Transactions transactions, EpochRecord written, Predicate<EpochRecord> appended) {
        this.log = log;
        this.transactions = transactions;
        this.written = written;
        this.appended = appended;
    }

    void run() {
        EpochStep.WRITTEN.reached(written);
        EpochRecord decided = decide();
        EpochStep.RECORDED.reached(decided);
        if (!decided.committed()) {
            transactions.commit(open(decided.transactions()));
            log.replaceMeanwhile(decided.asCommitted());
        }
        EpochStep.COMMITTED.reached(decided);
        transactions.abort(without(written.transactions(), decided.transactions()));
    }

    /** The transactions that make up the epoch, durably recorded. */
    private EpochRecord decide() {
        EpochRecord decision;
        do {
            Optional<EpochRecord> earlier = log.read();
            earlier.ifPresent(record -> record.requireNotAfter(written.epoch()));
            boolean repeated = earlier.isPresent() && earlier.get().epoch() == written.epoch();
            decision = repeated ? repaired(earlier.get()) : after(earlier.orElse(written));
            if (repeated && decision.equals(earlier.get())) {
                LOG.info("Epoch {} was recorded by an earlier attempt, which is completed now", written.epoch());
                return decision;
            }
        } while (!log.replace(decision));
        return decision;
    }

    /** What this attempt wrote, unless an earlier one has appended the epoch: then no transactions at all. */
    private EpochRecord after(EpochRecord earlier) {
        List<TransactionId> needed = appended.test(earlier) ? List.of() : written.transactions();
        return new EpochRecord(written.epoch(), false, needed, earlier.appendedTo());
    }

    /**
     * The earlier attempt with transactions of this one in place of those that expired before they were committed. If
     * none of it was committed, this attempt alone.
     */
    private EpochRecord repaired(EpochRecord earlier) {
        if (earlier.committed()) {
            return earlier;
        }
        Map<TransactionId, Status> statuses = transactions.statuses(earlier.transactions());
        if (statuses.values().stream().noneMatch(LOST::contains)) {
            return earlier;
        }
        if (statuses.values().stream().noneMatch(DONE::contains)) {
            transactions.abort(earlier.transactions());
            return written.withAppendsTo(earlier.appendedTo());
        }
        List<TransactionId> spare = new ArrayList<>(written.transactions());
        List<TransactionId> whole = earlier.transactions().stream()
                .map(each -> LOST.contains(statuses.get(each)) ? substitute(each, spare) : each)
                .collect(Collectors.toList());
        return new EpochRecord(earlier.epoch(), false, whole, earlier.appendedTo());
    }

    private TransactionId substitute(TransactionId lost, List<TransactionId> spare) {
        TransactionId found = spare.stream().filter(lost::holdsSameRowsAs).findFirst()
                .orElseThrow(() -> new PravegaException("epoch " + written.epoch() + " was committed in part, and "
                        + lost + " expired before its commit; the repetition of the epoch has no equal part"));
        spare.remove(found);
        return found;
    }

    private List<TransactionId> open(List<TransactionId> decided) {
        if (decided.equals(written.transactions())) {
            return decided;
        }
        Map<TransactionId, Status> statuses = transactions.statuses(decided);
        return without(decided, decided.stream().filter(each -> statuses.get(each) == Status.COMMITTED).toList());
    }

    private static List<TransactionId> without(List<TransactionId> all, List<TransactionId> some) {
        return all.stream().filter(each -> !some.contains(each)).toList();
    }
}
