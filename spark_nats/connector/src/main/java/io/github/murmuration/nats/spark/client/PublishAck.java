// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

import io.nats.client.Message;
import io.nats.client.support.JsonValueUtils;

/** JetStream's answers to what is published. */
public final class PublishAck {
    private PublishAck() {
    }

    /**
     * Sequence of the message in its stream.
     *
     * @param what is published, for an error
     * @throws ApiException if it was refused
     */
    public static long sequence(Message answer, String what) {
        return JsonValueUtils.readLong(Partitions.parsed(answer, what), "seq", 0);
    }

    /** For a member of a batch, which is answered by nothing when it is taken. */
    public static void requireNoError(Message answer, String what) {
        if (answer.getData() != null && answer.getData().length > 0) {
            Partitions.parsed(answer, what);
        }
    }
}
