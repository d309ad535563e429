// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.client;

import io.github.murmuration.pulsar.spark.PulsarOptions;
import io.github.murmuration.spark.common.client.Leases;

/** Connections of this JVM, one for each pair of addresses, shared by all that hold a lease of it. */
public final class Connections {
    private static final Leases<Addresses, Connection> OPEN = new Leases<>(
            "pulsar-connections", addresses -> Connection.open(addresses.service, addresses.administration));

    private Connections() {
    }

    private record Addresses(String service, String administration) {
    }

    public static Leases.Lease<Connection> lease(PulsarOptions options) {
        return OPEN.lease(new Addresses(options.serviceUrl(), options.adminUrl()));
    }
}
