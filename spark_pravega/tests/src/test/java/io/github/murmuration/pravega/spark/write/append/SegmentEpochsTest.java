// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.append;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.client.Connections;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.github.murmuration.pravega.spark.testing.server.SegmentStoreCommands;
import io.github.murmuration.spark.testing.DriverProcess;
import io.github.murmuration.spark.testing.LogListener;
import io.pravega.client.ClientConfig;
import io.pravega.client.connection.impl.ConnectionPool;
import io.pravega.client.connection.impl.ConnectionPoolImpl;
import io.pravega.client.connection.impl.RawClient;
import io.pravega.client.connection.impl.SocketConnectionFactoryImpl;
import io.pravega.client.segment.impl.Segment;
import io.pravega.shared.protocol.netty.WireCommands;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What two drivers of one query do in a segment, down to the order in which the segment store has it. */
class SegmentEpochsTest extends SparkTest {
    private static final UUID QUERY = UUID.randomUUID();

    private String stream;
    private Segment segment;
    private Connections.Lease lease;
    private ConnectionPool oneConnection;

    @BeforeEach
    void connect() {
        stream = stream(1);
        segment = new Segment(SCOPE, stream, 0);
        lease = Connections.lease(connection());
        ClientConfig config = ClientConfig.builder().maxConnectionsPerSegmentStore(1).build();
        oneConnection = new ConnectionPoolImpl(config, new SocketConnectionFactoryImpl(config));
    }

    @AfterEach
    void disconnect() {
        oneConnection.close();
        lease.close();
    }

    /** The segment store refuses what comes after a seal, though neither the seal nor the append before is durable. */
    @Test
    void anAppendInFrontOfASealIsFoundBeforeItIsAnswered() throws Exception {
        SegmentEpochs first = epochs();
        SegmentEpochs second = epochs();
        first.append(0, KeptEvents.framed("event-0".getBytes()), true);
        second.state(1);
        Set<Class<?>> commands = ConcurrentHashMap.newKeySet();
        ProcessHandle bookie = DurablePravega.stoppedBookie();
        try (LogListener log = new SegmentStoreCommands(command -> commands.add(command.getClass()))) {
            CompletableFuture<EpochState> append = CompletableFuture.supplyAsync(
                    () -> first.append(1, KeptEvents.framed("event-1".getBytes()), true));
            await(commands, WireCommands.ConditionalBlockEnd.class);
            CompletableFuture<?> seal = seal();
            await(commands, WireCommands.SealSegment.class);
            CompletableFuture<EpochState> fence = CompletableFuture.supplyAsync(() -> second.fence(1));
            await(commands, WireCommands.SegmentIsSealed.class);
            assertFalse(append.isDone() || seal.isDone());
            DriverProcess.signal(bookie, "CONT");
            assertEquals(EpochState.APPENDED, fence.get(30, TimeUnit.SECONDS));
            assertEquals(EpochState.APPENDED, append.get(30, TimeUnit.SECONDS));
            assertEquals(List.of(0, 1), numbers(stream));
        } finally {
            DriverProcess.signal(bookie, "CONT");
        }
    }

    private SegmentEpochs epochs() {
        return new SegmentEpochs(lease.connection().controller(), oneConnection, segment, QUERY);
    }

    private static void await(Set<Class<?>> commands, Class<?> sought) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
        while (!commands.contains(sought)) {
            assertTrue(System.nanoTime() < end, () -> "no " + sought + " but " + commands);
            Thread.sleep(20);
        }
        Thread.sleep(100); // what is told of goes out right after
    }

    /** As the controller does when the stream scales. */
    private CompletableFuture<?> seal() {
        RawClient client = new RawClient(lease.connection().controller(), oneConnection, segment);
        long id = client.getFlow().getNextSequenceNumber();
        return client.sendRequest(id, new WireCommands.SealSegment(id, segment.getScopedName(), ""));
    }
}
