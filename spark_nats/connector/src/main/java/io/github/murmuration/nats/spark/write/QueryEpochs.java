// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import io.github.murmuration.nats.spark.NatsOptions;
import io.github.murmuration.nats.spark.client.EventStream;
import io.github.murmuration.nats.spark.client.NatsConnection;
import io.github.murmuration.nats.spark.client.PartitionState;
import io.github.murmuration.nats.spark.client.Partitions;
import io.github.murmuration.nats.spark.client.StoredEvent;
import io.github.murmuration.nats.spark.client.StoredEvents;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a driver knows of the epochs of one of its queries. */
final class QueryEpochs {
    private static final Logger LOG = LoggerFactory.getLogger(QueryEpochs.class);
    /** Noted sequences may be older than their epoch: so the streams are not asked in each of them. */
    private static final long SEQUENCES_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final int KEPT = 1000;
    private static final Map<String, QueryEpochs> OF_QUERIES = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, QueryEpochs> eldest) {
            return size() > KEPT;
        }
    };

    private final String query;
    /** Of the newest run: a query may come back with others. */
    private NatsOptions options;
    private String run;
    private EpochLog log;
    private TreeMap<String, Long> sequences;
    private long sequencesAt;

    private QueryEpochs(String query) {
        this.query = query;
    }

    static QueryEpochs of(NatsOptions options, String query) {
        String target = options.target().map(EventStream::name).orElse("");
        synchronized (OF_QUERIES) {
            return OF_QUERIES.computeIfAbsent(
                    options.servers() + " " + options.namespace() + " " + target + " " + query,
                    absent -> new QueryEpochs(query));
        }
    }

    /**
     * Notes that an epoch begins, before its tasks do.
     *
     * @param ofRun the run of the query: one that failed may have begun the epoch already
     * @throws io.github.murmuration.nats.spark.NatsException if another driver runs the query, or if it is not known
     *     what of the epoch was written and this is to fail then
     */
    synchronized EpochPlan begin(
            NatsConnection connection, NatsOptions given, String ofRun, long epoch, int tasks) {
        options = given;
        if (!ofRun.equals(run)) {
            log = new EpochLog(connection, options.namespace(), query);
            sequences = null;
            run = ofRun;
        }
        try {
            return begin(connection, epoch, tasks);
        } catch (RuntimeException | Error failed) {
            run = null; // what the record says is to be read again
            throw failed;
        }
    }

    private EpochPlan begin(NatsConnection connection, long epoch, int tasks) {
        EpochRecord newest = log.record();
        if (newest == null || newest.epoch() < epoch) {
            EpochRecord next = new EpochRecord(epoch, tasks, run, sequences(connection));
            log.replace(next);
            return new EpochPlan(query, next, EpochPlan.Kind.NEW);
        }
        EpochRecord known = newest.among(states(connection));
        if (known.epoch() > epoch) {
            EpochPlan.Kind kind = decide(epoch,
                    "epoch " + known.epoch() + " has begun already (was the checkpoint set back?)");
            log.replace(known.by(run, known.tasks()));
            return new EpochPlan(query, new EpochRecord(epoch, tasks, run, known.last()), kind);
        }
        EpochPlan.Kind kind = known.tasks() == tasks ? EpochPlan.Kind.AGAIN : otherTasks(connection, known, tasks);
        EpochRecord again = known.by(run, tasks);
        log.replace(again);
        LOG.info("Epoch {} of query {} was begun before: {}", epoch, query, kind);
        return new EpochPlan(query, again, kind);
    }

    /** Rows are with other tasks than before, and so on other subjects: no one can tell which of them are there. */
    private EpochPlan.Kind otherTasks(NatsConnection connection, EpochRecord known, int tasks) {
        Optional<String> trace = trace(connection, known);
        if (trace.isEmpty()) {
            return EpochPlan.Kind.AGAIN;
        }
        return decide(known.epoch(), "it was begun by " + known.tasks() + " tasks and comes again with " + tasks
                + ", and " + trace.get());
    }

    private EpochPlan.Kind decide(long epoch, String why) {
        return options.onUnknownEpoch().decide(epoch, why) == UnknownEpoch.WRITE
                ? EpochPlan.Kind.FORCED : EpochPlan.Kind.SKIPPED;
    }

    /** Where something of the epoch is, or may have been. Rows of epochs before it may be there, too. */
    private Optional<String> trace(NatsConnection connection, EpochRecord known) {
        String subjects = options.namespace() + ".*.*.spark." + EpochSubject.token(query) + ".*";
        for (Map.Entry<String, PartitionState> stream : states(connection).entrySet()) {
            long from = known.last(stream.getKey()) + 1;
            if (stream.getValue().first() > from) {
                return Optional.of("retention has removed events of " + stream.getKey() + " since");
            }
            try (StoredEvents written = new StoredEvents(
                    connection, stream.getKey(), subjects, from, stream.getValue().end())) {
                for (StoredEvent event = written.next(); event != null; event = written.next()) {
                    if (Long.toString(known.epoch()).equals(event.header(EpochSubject.EPOCH))) {
                        return Optional.of("something of it is in " + stream.getKey());
                    }
                }
            }
        }
        return Optional.empty();
    }

    private TreeMap<String, Long> sequences(NatsConnection connection) {
        long now = System.nanoTime();
        if (sequences == null || now - sequencesAt > SEQUENCES_NANOS) {
            TreeMap<String, Long> last = new TreeMap<>();
            states(connection).forEach((stream, state) -> last.put(stream, state.last()));
            sequences = last;
            sequencesAt = now;
        }
        return sequences;
    }

    private Map<String, PartitionState> states(NatsConnection connection) {
        if (options.target().isEmpty()) {
            return Partitions.ofNamespace(connection, options.namespace());
        }
        EventStream target = options.target().get();
        List<PartitionState> states = Partitions.all(connection, target);
        Map<String, PartitionState> named = new TreeMap<>();
        for (int partition = 0; partition < states.size(); partition++) {
            named.put(target.partition(partition), states.get(partition));
        }
        return named;
    }
}
