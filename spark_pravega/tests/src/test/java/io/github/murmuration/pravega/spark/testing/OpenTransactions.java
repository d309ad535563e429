// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.murmuration.pravega.shaded.io.netty.buffer.ByteBuf;
import io.github.murmuration.pravega.shaded.io.netty.buffer.Unpooled;
import io.github.murmuration.pravega.spark.client.Waiting;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.github.murmuration.pravega.spark.testing.server.PravegaServer;
import io.pravega.client.ClientConfig;
import io.pravega.client.connection.impl.ConnectionPool;
import io.pravega.client.connection.impl.ConnectionPoolImpl;
import io.pravega.client.connection.impl.RawClient;
import io.pravega.client.connection.impl.SocketConnectionFactoryImpl;
import io.pravega.shared.NameUtils;
import io.pravega.shared.protocol.netty.PravegaNodeUri;
import io.pravega.shared.protocol.netty.WireCommands;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The transactions on a stream that are neither committed nor aborted, whoever began them: the segment store has a
 * segment for each, of which its containers' own metadata tells. Pravega's client lists no open transactions.
 */
public final class OpenTransactions {
    private static final int KEYS_AT_ONCE = 1000;

    private OpenTransactions() {
    }

    /** Names of their segments. */
    public static List<String> on(String stream) {
        String prefix = NameUtils.getScopedStreamName(DurablePravega.SCOPE, stream) + "/";
        ClientConfig config = ClientConfig.builder().build();
        try (ConnectionPool pool = new ConnectionPoolImpl(config, new SocketConnectionFactoryImpl(config));
                RawClient client = new RawClient(new PravegaNodeUri(
                        "127.0.0.1", PravegaServer.segmentStorePort(DurablePravega.PORT)), pool)) {
            List<String> segments = new ArrayList<>();
            for (int container = 0; container < PravegaServer.CONTAINERS; container++) {
                segments.addAll(keys(client, NameUtils.getMetadataSegmentName(container)));
            }
            return segments.stream()
                    .filter(name -> name.startsWith(prefix) && NameUtils.isTransactionSegment(name)).toList();
        }
    }

    /** @param limit how long those may take that nobody ends, but their lease */
    public static void assertNoneRemains(String stream, Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        List<String> open = on(stream);
        while (!open.isEmpty() && System.nanoTime() < end) {
            Thread.sleep(200);
            open = on(stream);
        }
        assertEquals(List.of(), open);
    }

    private static List<String> keys(RawClient client, String table) {
        List<String> keys = new ArrayList<>();
        ByteBuf after = Unpooled.EMPTY_BUFFER;
        do {
            long id = client.getFlow().getNextSequenceNumber();
            WireCommands.TableKeysRead page = (WireCommands.TableKeysRead) Waiting.on(client.sendRequest(id,
                    new WireCommands.ReadTableKeys(id, table, "", KEYS_AT_ONCE, new WireCommands.TableIteratorArgs(
                            after, Unpooled.EMPTY_BUFFER, Unpooled.EMPTY_BUFFER, Unpooled.EMPTY_BUFFER))));
            page.getKeys().forEach(key -> keys.add(key.getData().toString(StandardCharsets.UTF_8)));
            after = page.getKeys().isEmpty() ? Unpooled.EMPTY_BUFFER : page.getContinuationToken();
        } while (after.isReadable());
        return keys;
    }
}
