// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

import static org.junit.jupiter.api.Assertions.assertFalse;

import io.github.murmuration.nats.spark.testing.NatsServer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Connections that are not there yet. */
@Tag("core")
class ConnectionsTest {
    private static final int NUMBER = 3;

    @Test
    void aServerThatIsAwayIsWaitedFor() throws Exception {
        try (NatsServer server = new NatsServer(NUMBER, 1000)) {
            server.kill();
            CompletableFuture<Boolean> closed = CompletableFuture.supplyAsync(() -> {
                try (var lease = Connections.lease(server.url())) {
                    return lease.connection().isClosed();
                }
            });
            Thread.sleep(1000);
            assertFalse(closed.isDone());
            server.start();
            assertFalse(closed.get(20, TimeUnit.SECONDS));
        }
    }
}
