// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

/** One way to get the messages of a stream from a sequence on. */
interface EventFeed extends AutoCloseable {
    /**
     * The next message, whatever its sequence, or null if there is none.
     *
     * @throws UnansweredException if the server does not answer
     */
    StoredEvent next();

    @Override
    void close();
}
