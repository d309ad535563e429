// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

import io.github.murmuration.spark.common.client.Leases;
import io.github.murmuration.spark.common.client.Patience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Connections of this JVM, one for each list of servers, shared by all that hold a lease of it. */
public final class Connections {
    private static final Logger LOG = LoggerFactory.getLogger(Connections.class);
    private static final Leases<String, NatsConnection> OPEN = new Leases<>("nats-connections", NatsConnection::open);

    private Connections() {
    }

    /**
     * A server that is away is waited for.
     *
     * @throws io.github.murmuration.nats.spark.NatsException if none answers for a minute, or one refuses
     */
    public static Leases.Lease<NatsConnection> lease(String servers) {
        try {
            return OPEN.lease(servers);
        } catch (UnansweredException away) {
            LOG.warn("{}: it is waited for", away.getMessage());
            return Patience.until(UnansweredException.class, () -> OPEN.lease(servers));
        }
    }
}
