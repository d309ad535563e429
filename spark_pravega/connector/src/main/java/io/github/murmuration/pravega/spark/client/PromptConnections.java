// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.client;

import io.pravega.client.connection.impl.ClientConnection;
import io.pravega.client.connection.impl.ConnectionFactory;
import io.pravega.shared.protocol.netty.Append;
import io.pravega.shared.protocol.netty.ConnectionFailedException;
import io.pravega.shared.protocol.netty.PravegaNodeUri;
import io.pravega.shared.protocol.netty.ReplyProcessor;
import io.pravega.shared.protocol.netty.WireCommand;
import io.pravega.shared.protocol.netty.WireCommands;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Connections that keep back no event.
 *
 * <p>While another event is not acknowledged yet, Pravega's client keeps one back for up to 40 ms, so as to send it
 * with others. Any other command ends that; a keep-alive costs least. Events that come close together need none.
 */
record PromptConnections(ConnectionFactory connections) implements ConnectionFactory {
    /** Events that follow each other faster fill what the client collects soon enough. */
    static final long CLOSE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    @Override
    public CompletableFuture<ClientConnection> establishConnection(PravegaNodeUri endpoint, ReplyProcessor replies) {
        return connections.establishConnection(endpoint, replies).thenApply(Prompt::new);
    }

    @Override
    public ScheduledExecutorService getInternalExecutor() {
        return connections.getInternalExecutor();
    }

    @Override
    public void close() {
        // Others use the factory.
    }

    private static final class Prompt implements ClientConnection {
        private final ClientConnection connection;
        private volatile long lastAt = System.nanoTime();

        private Prompt(ClientConnection connection) {
            this.connection = connection;
        }

        @Override
        public void send(Append append) throws ConnectionFailedException {
            connection.send(append);
            long now = System.nanoTime();
            boolean close = now - lastAt < CLOSE_NANOS;
            lastAt = now;
            if (!close) {
                connection.send(new WireCommands.KeepAlive());
            }
        }

        @Override
        public void send(WireCommand command) throws ConnectionFailedException {
            connection.send(command);
        }

        @Override
        public void sendAsync(List<Append> appends, CompletedCallback callback) {
            connection.sendAsync(appends, callback);
        }

        @Override
        public PravegaNodeUri getLocation() {
            return connection.getLocation();
        }

        @Override
        public void close() {
            connection.close();
        }
    }
}
