// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.client;

import io.pravega.client.ClientConfig;
import io.pravega.client.connection.impl.ConnectionFactory;
import io.pravega.client.connection.impl.ConnectionPool;
import io.pravega.client.connection.impl.ConnectionPoolImpl;
import io.pravega.client.control.impl.Controller;
import io.pravega.client.stream.EventStreamWriter;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.impl.ByteArraySerializer;
import io.pravega.client.stream.impl.ClientFactoryImpl;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Writers whose events are on their way at once, by connections of their own. */
public final class PromptWriters {
    private final Controller controller;
    private final ConnectionPool pool;
    private final Map<String, ClientFactoryImpl> factories = new ConcurrentHashMap<>();

    /** @param connections open what the writers use, and belong to someone else */
    PromptWriters(ClientConfig config, Controller controller, ConnectionFactory connections) {
        this.controller = controller;
        pool = new ConnectionPoolImpl(config, new PromptConnections(connections));
    }

    public EventStreamWriter<byte[]> writer(Stream stream) {
        return factories
                .computeIfAbsent(stream.getScope(), scope -> new ClientFactoryImpl(scope, controller, pool))
                .createEventWriter(stream.getStreamName(), new ByteArraySerializer(), PravegaConnection.WRITERS);
    }

    void close() {
        factories.values().forEach(ClientFactoryImpl::close);
        pool.close();
    }
}
