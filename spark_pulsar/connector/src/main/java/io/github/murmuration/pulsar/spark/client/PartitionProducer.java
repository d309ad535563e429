// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.client;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.client.api.Producer;
import org.apache.pulsar.client.api.TypedMessageBuilder;
import org.apache.spark.unsafe.types.UTF8String;

/** The producer of a partition's topic, which the tasks of this JVM share. */
public final class PartitionProducer {
    /** Keys go into a published batch beside its events: so many bytes of long ones end it, for it to be taken. */
    private static final int LONG_KEY = 256;
    private static final int LONG_KEYS_BYTES = 1 << 20;

    final Producer<byte[]> producer;
    private final AtomicLong longKeys = new AtomicLong();

    PartitionProducer(Producer<byte[]> producer) {
        this.producer = producer;
    }

    /**
     * What comes of it tells whether the event was taken.
     *
     * @param key may be null
     */
    public CompletableFuture<MessageId> send(UTF8String key, byte[] event) {
        TypedMessageBuilder<byte[]> message = producer.newMessage().value(event);
        if (key == null) {
            return message.sendAsync();
        }
        CompletableFuture<MessageId> sent = message.key(key.toString()).sendAsync();
        if (key.numBytes() > LONG_KEY) {
            long bytes = longKeys.addAndGet(key.numBytes());
            if (bytes > LONG_KEYS_BYTES && longKeys.compareAndSet(bytes, 0)) { // else another task's sees as many
                flush();
            }
        }
        return sent;
    }

    /** What was sent goes to the broker now. */
    public void flush() {
        producer.flushAsync();
    }
}
