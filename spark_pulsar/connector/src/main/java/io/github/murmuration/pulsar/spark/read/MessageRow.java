// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.read;

import io.github.murmuration.spark.common.read.EventRow;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.Message;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** The row of a message of Pulsar. */
final class MessageRow extends EventRow<Message<byte[]>> {
    MessageRow(StructType columns, PartitionSlice slice) {
        super(columns, slice.stream().name(), slice.partition());
    }

    @Override
    protected byte[] event(Message<byte[]> message) {
        return message.getData();
    }

    @Override
    protected UTF8String key(Message<byte[]> message) {
        if (!message.hasKey()) {
            return null;
        }
        return message.hasBase64EncodedKey() ? UTF8String.fromBytes(message.getKeyBytes())
                : UTF8String.fromString(message.getKey());
    }

    @Override
    protected long timestamp(Message<byte[]> message) {
        return TimeUnit.MILLISECONDS.toMicros(message.getPublishTime());
    }
}
