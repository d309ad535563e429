// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import io.github.murmuration.nats.spark.client.Keys;
import io.github.murmuration.nats.spark.client.LastMessage;
import io.github.murmuration.nats.spark.client.NatsConnection;
import io.github.murmuration.nats.spark.client.PartitionState;
import io.github.murmuration.nats.spark.client.Partitions;
import io.github.murmuration.nats.spark.client.StoredEvent;
import io.github.murmuration.nats.spark.client.StoredEvents;
import io.github.murmuration.spark.common.write.Written;
import io.nats.client.Message;
import io.nats.client.impl.Headers;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one task writes to one partition in an epoch, on a subject that belongs to this task of the query alone. The
 * subject's last message tells what is there; that it is still the same is the condition of each batch.
 */
final class EpochSubject {
    static final String EPOCH = "Epoch";
    private static final String ROWS = "Rows";
    private static final String EXPECTED = "Nats-Expected-Last-Subject-Sequence";
    /** So the commit of a batch does not take the server too long. */
    private static final int BATCH_BYTES = 32 << 20;
    private static final Logger LOG = LoggerFactory.getLogger(EpochSubject.class);

    private final NatsConnection connection;
    private final EpochPlan plan;
    private final UnknownEpoch onUnknown;
    private final int batchEvents;
    private final String stream;
    private final TargetRows.Partition target;
    private final String subject;
    private final Rows rows;
    /** Indices of the rows that are still to be written. */
    private int[] missing;
    private int written;
    private long last;
    private boolean looked;
    private boolean doubtful;
    private int partEnd;
    private AtomicBatch batch;
    private CompletableFuture<Message> answer;

    /** @param doubtful whether something of the epoch may be there */
    EpochSubject(NatsConnection connection, EpochPlan plan, UnknownEpoch onUnknown, int batchEvents,
            TargetRows.Partition target, int task, Rows rows, boolean doubtful) {
        this.connection = connection;
        this.plan = plan;
        this.onUnknown = onUnknown;
        this.batchEvents = batchEvents;
        this.rows = rows;
        this.doubtful = doubtful;
        this.target = target;
        stream = target.stream().partition(target.number());
        subject = target.stream().subject(target.number(), "spark." + token(plan.query()) + "." + task);
    }

    static String token(String query) {
        return query.replace("-", "");
    }

    boolean isWritten() {
        return looked && written == missing.length;
    }

    /** What was under way may have arrived or not. */
    void lost() {
        looked = false;
        doubtful = true;
        batch = null;
    }

    void ask() {
        if (!looked) {
            answer = LastMessage.ask(connection, stream, subject);
        }
    }

    /** Finds out what is to be written. If nothing came since it was known, it is as it was. */
    void look() {
        if (looked) {
            return;
        }
        Optional<LastMessage> newest = LastMessage.of(connection, answer, subject);
        long found = newest.map(LastMessage::sequence).orElse(0L);
        if (missing == null || found == 0 || found != last) {
            missing = null; // until it is known anew
            last = found;
            written = 0;
            missing = missing(
                    newest.map(message -> message.headers().getFirst(EPOCH)).map(Long::parseLong).orElse(-1L));
        }
        looked = true;
    }

    private int[] missing(long newestEpoch) {
        int[] all = IntStream.range(0, rows.size()).toArray();
        if (plan.kind() == EpochPlan.Kind.FORCED) {
            return all;
        }
        if (newestEpoch > plan.epoch()) {
            LOG.info("Epoch {} comes too late on {}: epoch {} is there", plan.epoch(), subject, newestEpoch);
            return new int[0];
        }
        if (newestEpoch == plan.epoch()) {
            return rest(all);
        }
        return doubtful && isEvicted() ? orNone(all, "nothing of it is on " + subject + ", but " + evicted()) : all;
    }

    /** Of an epoch of which something is there: the rows that are not. */
    private int[] rest(int[] all) {
        long total = 0;
        long found = 0;
        long others = 0;
        Map<Content, Integer> lacking = new HashMap<>();
        for (int index : all) {
            lacking.merge(content(index), 1, Integer::sum);
        }
        try (StoredEvents events = new StoredEvents(connection, stream, subject, from(), last + 1)) {
            for (StoredEvent event = events.next(); event != null; event = events.next()) {
                if (Long.toString(plan.epoch()).equals(event.header(EPOCH))) {
                    found++;
                    others += take(lacking, Content.of(event.header(Keys.HEADER), event.event())) ? 0 : 1;
                    String rowsOfAll = event.header(ROWS);
                    total = rowsOfAll == null ? total : Long.parseLong(rowsOfAll);
                }
            }
        }
        LOG.info("{} of {} rows of epoch {} are on {}", found, total, plan.epoch(), subject);
        if (total > 0 && found >= total && total == rows.size()) {
            return new int[0]; // rows may tell when they were made, and differ in that
        }
        if (others > 0) {
            return orNone(all, others + " of its rows on " + subject + " are none that the repetition has: its rows "
                    + "depend on something but its input, or the checkpoint was set back");
        }
        if (lacking.isEmpty()) {
            return new int[0];
        }
        if (total > 0 && found >= total) {
            return orNone(all, "it is on " + subject + " as a whole, with " + total + " rows, and the repetition has "
                    + rows.size() + " (was the checkpoint set back?)");
        }
        int[] rest = IntStream.of(all).filter(index -> take(lacking, content(index))).toArray();
        return isEvicted() ? orNone(rest, "only a part of it is on " + subject + ", and " + evicted()) : rest;
    }

    private Content content(int index) {
        return Content.of(rows.key(index), rows.event(index));
    }

    private static boolean take(Map<Content, Integer> contents, Content content) {
        if (!contents.containsKey(content)) {
            return false;
        }
        contents.computeIfPresent(content, (same, count) -> count == 1 ? null : count - 1);
        return true;
    }

    private int[] orNone(int[] indices, String why) {
        return onUnknown.decide(plan.epoch(), why) == UnknownEpoch.WRITE ? indices : new int[0];
    }

    /** A stream that was created anew may end before what the record says. */
    private long from() {
        long noted = plan.record().last(stream);
        return noted < last ? noted + 1 : 1;
    }

    private boolean isEvicted() {
        Optional<PartitionState> state = Partitions.state(connection, target.stream(), target.number());
        return state.isPresent() && state.get().first() > plan.record().last(stream) + 1;
    }

    private String evicted() {
        return "retention has removed events that came after " + plan.record().last(stream);
    }

    /** Sends the next part: one atomic batch. */
    void send() {
        int from = written;
        partEnd = partEnd(from);
        LOG.debug("Sending rows {} to {} of epoch {} on {}", from, partEnd, plan.epoch(), subject);
        batch = new AtomicBatch(connection, subject);
        for (int index = from; index < partEnd - 1; index++) {
            batch.add(headers(index, index == from), rows.event(missing[index]));
        }
        answer = batch.commit(headers(partEnd - 1, partEnd - 1 == from), rows.event(missing[partEnd - 1]));
    }

    /** Waits until that part is durable. */
    void await() {
        last = batch.sequence(answer);
        written = partEnd;
        batch = null;
        LOG.debug("Written: {} of {} rows of epoch {} on {}", written, missing.length, plan.epoch(), subject);
    }

    private int partEnd(int from) {
        int end = from;
        long bytes = 0;
        while (end < missing.length && end - from < batchEvents && (end == from || bytes < BATCH_BYTES)) {
            bytes += rows.event(missing[end++]).length;
        }
        return end;
    }

    private Headers headers(int index, boolean isFirst) {
        Headers headers = new Headers().put(EPOCH, Long.toString(plan.epoch()));
        String key = rows.key(missing[index]);
        if (key != null) {
            headers.put(Keys.HEADER, key);
        }
        if (isFirst) {
            headers.put(EXPECTED, Long.toString(last)).put(ROWS, Integer.toString(rows.size()));
        }
        return headers;
    }

    /** Key and event of a row. */
    private record Content(String key, ByteBuffer event) {
        static Content of(String key, byte[] event) {
            return new Content(key, ByteBuffer.wrap(event));
        }
    }
}
