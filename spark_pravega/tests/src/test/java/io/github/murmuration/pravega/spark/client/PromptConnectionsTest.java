// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.shaded.io.netty.buffer.Unpooled;
import io.pravega.client.connection.impl.ClientConnection;
import io.pravega.client.connection.impl.ConnectionFactory;
import io.pravega.shared.protocol.netty.Append;
import io.pravega.shared.protocol.netty.PravegaNodeUri;
import io.pravega.shared.protocol.netty.ReplyProcessor;
import io.pravega.shared.protocol.netty.WireCommand;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is sent after an event, so that it is not kept back. */
@Tag("core")
class PromptConnectionsTest {
    private final List<String> sent = new ArrayList<>();
    private final ClientConnection connection =
            new PromptConnections(new Recording()).establishConnection(new PravegaNodeUri("host", 1), null).join();

    @Test
    void aKeepAliveFollowsEachEventThatComesAlone() throws Exception {
        for (int event = 0; event < 3; event++) {
            Thread.sleep(1);
            connection.send(append(event));
        }
        assertEquals(Collections.nCopies(3, List.of("Append", "KeepAlive")).stream()
                .flatMap(List::stream).toList(), sent);
    }

    @Test
    void eventsThatComeCloseTogetherMayBeCollected() throws Exception {
        for (int event = 0; event < 10_000; event++) {
            connection.send(append(event));
        }
        assertTrue(sent.size() < 11_000, () -> sent.size() + " commands");
    }

    private static Append append(int event) {
        return new Append("segment", new UUID(0, 0), event, 1, Unpooled.wrappedBuffer(new byte[1]), null, 0);
    }

    private final class Recording implements ConnectionFactory {
        @Override
        public CompletableFuture<ClientConnection> establishConnection(PravegaNodeUri endpoint, ReplyProcessor rp) {
            return CompletableFuture.completedFuture(new ClientConnection() {
                @Override
                public void send(WireCommand command) {
                    sent.add(command.getClass().getSimpleName());
                }

                @Override
                public void send(Append append) {
                    sent.add("Append");
                }

                @Override
                public void sendAsync(List<Append> appends, CompletedCallback callback) {
                    throw new UnsupportedOperationException();
                }

                @Override
                public PravegaNodeUri getLocation() {
                    return endpoint;
                }

                @Override
                public void close() {
                    // Nothing is open.
                }
            });
        }

        @Override
        public ScheduledExecutorService getInternalExecutor() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {
            throw new AssertionError("it belongs to others");
        }
    }
}
