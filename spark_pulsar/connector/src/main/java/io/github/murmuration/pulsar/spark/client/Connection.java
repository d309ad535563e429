// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.client;

import io.github.murmuration.pulsar.spark.PulsarException;
import io.github.murmuration.spark.common.client.Leases;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.ClientBuilder;
import org.apache.pulsar.client.api.PulsarClient;
import org.apache.pulsar.client.api.PulsarClientException;
import org.apache.pulsar.client.api.Reader;
import org.apache.pulsar.client.impl.MessageIdImpl;

/** A client of Pulsar, its administration, and the producers that its tasks share. */
public final class Connection implements Leases.Connection {
    /** What a published batch has at most, without the keys. */
    private static final int BATCH_EVENTS = 2000;
    private static final int BATCH_BYTES = 2 << 20;
    private static final int BATCH_DELAY_MS = 50;
    private static final int DELIVERY_SECONDS = 120;
    private static final int PENDING = 10_000;
    /** Events that a reader has fetched and not handed out, or one published batch. */
    private static final int QUEUE = 256;
    private static final int NO_PARTITION = -1;
    private static final Set<Class<?>> FINAL = Set.of(
            PulsarClientException.AlreadyClosedException.class, PulsarClientException.TopicTerminatedException.class,
            PulsarClientException.TopicDoesNotExistException.class, PulsarClientException.NotFoundException.class,
            PulsarClientException.ProducerFencedException.class);

    private final PulsarClient client;
    private final Streams streams;
    private final Map<String, PartitionProducer> producers = new ConcurrentHashMap<>();

    private Connection(PulsarClient client, Streams streams) {
        this.client = client;
        this.streams = streams;
    }

    /** Nothing is asked yet. */
    static Connection open(String serviceUrl, String adminUrl) {
        try {
            ClientBuilder client = PulsarClient.builder().serviceUrl(serviceUrl)
                    .ioThreads(1).listenerThreads(1).statsInterval(0, TimeUnit.SECONDS)
                    .connectionTimeout(5, TimeUnit.SECONDS).operationTimeout(30, TimeUnit.SECONDS);
            if (isLoopback(serviceUrl)) {
                client.dnsLookupBind("127.0.0.1", 0); // by default it receives from any address
            }
            return new Connection(client.build(), new Streams(new Administration(adminUrl)));
        } catch (PulsarClientException failed) {
            throw new PulsarException("no connection to Pulsar at " + serviceUrl, failed);
        }
    }

    /** Whether nothing beyond this machine is to be reached, nor a name to be asked for. */
    private static boolean isLoopback(String serviceUrl) {
        try {
            return InetAddress.getByName(URI.create(serviceUrl).getHost()).isLoopbackAddress();
        } catch (UnknownHostException | IllegalArgumentException none) {
            return false; // the client tells what is wrong with it
        }
    }

    public Streams streams() {
        return streams;
    }

    /** Yields what lies behind the entry before a place; where retention has passed that, what is left. */
    public Reader<byte[]> reader(String topic, Place from) {
        try {
            return client.newReader().topic(topic).receiverQueueSize(QUEUE)
                    .startMessageId(new MessageIdImpl(from.ledger(), from.entry() - 1, NO_PARTITION)).create();
        } catch (PulsarClientException failed) {
            throw new PulsarException("cannot read " + topic, failed);
        }
    }

    /** The one of this JVM. */
    public PartitionProducer producer(String topic) {
        return producers.computeIfAbsent(topic, absent -> {
            try {
                return new PartitionProducer(client.newProducer().topic(topic).enableBatching(true)
                        .batchingMaxMessages(BATCH_EVENTS).batchingMaxBytes(BATCH_BYTES)
                        .batchingMaxPublishDelay(BATCH_DELAY_MS, TimeUnit.MILLISECONDS)
                        .maxPendingMessages(PENDING).blockIfQueueFull(true)
                        .sendTimeout(DELIVERY_SECONDS, TimeUnit.SECONDS).create());
            } catch (PulsarClientException failed) {
                throw new PulsarException("cannot write to " + topic, failed);
            }
        });
    }

    /** Where a producer does not recover, as from the end of its topic, the next use makes a new one. */
    public void failed(String topic, PartitionProducer failing, Throwable failure) {
        Throwable cause = failure instanceof CompletionException && failure.getCause() != null
                ? failure.getCause() : failure;
        if (FINAL.contains(cause.getClass()) && producers.remove(topic, failing)) {
            failing.producer.closeAsync();
        }
    }

    @Override
    public boolean isClosed() {
        return client.isClosed();
    }

    @Override
    public void close() {
        client.closeAsync();
    }
}
