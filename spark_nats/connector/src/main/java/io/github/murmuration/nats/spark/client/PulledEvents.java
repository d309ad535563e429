// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

import io.nats.client.Message;
import io.nats.client.NUID;
import io.nats.client.support.Status;
import java.util.ArrayDeque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An ephemeral pull consumer in the server's memory that acknowledges nothing. A message costs the server a third of
 * what a direct get does; making and deleting the consumer costs as much as some hundred of them.
 */
final class PulledEvents implements EventFeed {
    private static final Logger LOG = LoggerFactory.getLogger(PulledEvents.class);
    private static final int AHEAD = 2;
    /** A consumer whose reader has died is deleted after so long without a request. */
    private static final long INACTIVE_NANOS = 60_000_000_000L;
    private static final String PENDING = "Nats-Pending-Messages";

    private final NatsConnection connection;
    private final String stream;
    private final String name = "spark-" + NUID.nextGlobal();
    private final BatchSize size = new BatchSize();
    private final Inbox inbox;
    /** Messages that are neither asked for nor here. */
    private long unasked;
    /** Of each of the requests that are under way, the oldest first, the messages that have not come yet. */
    private final ArrayDeque<Long> requests = new ArrayDeque<>();

    /** @param number of messages that are wanted, which must be there */
    PulledEvents(NatsConnection connection, String stream, long start, long number) {
        this.connection = connection;
        this.stream = stream;
        unasked = number;
        inbox = new Inbox(connection);
        String api = "$JS.API.CONSUMER.CREATE." + stream + "." + name;
        try {
            Partitions.parsed(connection.await(connection.send(api, """
                    {"stream_name":"%s","config":{"name":"%s","deliver_policy":"by_start_sequence","opt_start_seq":%d,\
                    "ack_policy":"none","mem_storage":true,"num_replicas":1,"inactive_threshold":%d}}
                    """.formatted(stream, name, start, INACTIVE_NANOS)), api), api);
        } catch (RuntimeException failed) {
            inbox.close();
            throw failed;
        }
    }

    /** Null too if something else than a message comes: another way tells why. */
    @Override
    public StoredEvent next() {
        while (true) {
            ask();
            if (requests.isEmpty()) {
                return null;
            }
            Message message = inbox.next("consumer " + name + " of " + stream);
            Status status = message.getStatus();
            if (status == null) {
                StoredEvent event = StoredEvent.pulled(message);
                size.received(event);
                came();
                return event;
            }
            if (Status.BATCH_COMPLETED.equals(status.getMessage())) {
                continue; // a request ended with its last message, and less than its bytes
            }
            if (!Status.MESSAGE_SIZE_EXCEEDS_MAX_BYTES.equals(status.getMessage())) {
                LOG.info("A consumer of {} says {}: the rest is got directly", stream, status.getMessageWithCode());
                return null;
            }
            String pending = message.getHeaders() == null ? null : message.getHeaders().getFirst(PENDING);
            unasked += pending == null ? requests.getFirst() : Long.parseLong(pending);
            requests.removeFirst();
        }
    }

    private void came() {
        long left = requests.removeFirst() - 1;
        if (left > 0) {
            requests.addFirst(left);
        }
    }

    private void ask() {
        while (requests.size() < AHEAD && unasked > 0) {
            long batch = size.next(unasked);
            inbox.ask("$JS.API.CONSUMER.MSG.NEXT." + stream + "." + name,
                    "{\"no_wait\":true,\"batch\":" + batch + ",\"max_bytes\":" + 2 * BatchSize.MAX_BYTES + "}");
            requests.add(batch);
            unasked -= batch;
        }
    }

    /** The answer is not waited for: if it does not arrive, the consumer ends by itself. */
    @Override
    public void close() {
        inbox.close();
        connection.send("$JS.API.CONSUMER.DELETE." + stream + "." + name, "");
    }
}
