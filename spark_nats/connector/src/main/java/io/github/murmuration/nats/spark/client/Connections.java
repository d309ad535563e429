// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

import io.github.murmuration.spark.common.client.Leases;

/** Connections of this JVM, one for each list of servers, shared by all that hold a lease of it. */
public final class Connections {
    private static final Leases<String, NatsConnection> OPEN = new Leases<>("nats-connections", NatsConnection::open);

    private Connections() {
    }

    /** @throws io.github.murmuration.nats.spark.NatsException if no server answers */
    public static Leases.Lease<NatsConnection> lease(String servers) {
        return OPEN.lease(servers);
    }
}
