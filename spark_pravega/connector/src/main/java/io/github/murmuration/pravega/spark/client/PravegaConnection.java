// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.client;

import io.github.murmuration.pravega.spark.client.stream.StreamMetadata;
import io.github.murmuration.pravega.spark.client.stream.TargetStreams;
import io.pravega.client.ClientConfig;
import io.pravega.client.admin.StreamManager;
import io.pravega.client.admin.impl.StreamManagerImpl;
import io.pravega.client.connection.impl.ConnectionPool;
import io.pravega.client.connection.impl.ConnectionPoolImpl;
import io.pravega.client.connection.impl.SocketConnectionFactoryImpl;
import io.pravega.client.control.impl.Controller;
import io.pravega.client.control.impl.ControllerImpl;
import io.pravega.client.control.impl.ControllerImplConfig;
import io.pravega.client.segment.impl.SegmentInputStreamFactory;
import io.pravega.client.segment.impl.SegmentInputStreamFactoryImpl;
import io.pravega.client.segment.impl.SegmentOutputStreamFactory;
import io.pravega.client.segment.impl.SegmentOutputStreamFactoryImpl;
import io.pravega.client.stream.EventStreamWriter;
import io.pravega.client.stream.EventWriterConfig;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.impl.ByteArraySerializer;
import io.pravega.client.stream.impl.ClientFactoryImpl;
import java.net.URI;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The connection of this JVM to one Pravega cluster, shared by everything that reads and writes there.
 *
 * <p>One controller channel and one pool of segment store connections serve all parts of the client; Pravega's public
 * factories would open them once per scope and purpose.
 */
public final class PravegaConnection {
    /**
     * Writers take connections from the pool. One of a writer's own is not reused, and after its end the client keeps
     * its buffer of 1 MiB for some 20 s: many small epochs filled the heap.
     */
    public static final EventWriterConfig WRITERS =
            EventWriterConfig.builder().enableLargeEvents(true).enableConnectionPooling(true).build();

    /** What is kept open for a query. */
    public interface Kept {
        /** Whether it was closed since it was not used for a while; then it is made anew when it is asked for. */
        boolean closeIfUnused();

        void close();
    }

    private final URI cluster;
    private final ConnectionPool pool;
    private final Controller controller;
    private final StreamManager streams;
    private final StreamMetadata metadata;
    private final TargetStreams targets;
    private final KeyValueTables tables;
    private final SegmentInputStreamFactory inputs;
    private final SegmentOutputStreamFactory outputs;
    private final PromptWriters promptWriters;
    private final TransactionLeases leases;
    private final Map<String, ClientFactoryImpl> factories = new ConcurrentHashMap<>();
    private final Map<UUID, Kept> queries = new ConcurrentHashMap<>();

    PravegaConnection(ClientConfig config) {
        SocketConnectionFactoryImpl connections = new SocketConnectionFactoryImpl(config);
        cluster = config.getControllerURI();
        pool = new ConnectionPoolImpl(config, connections);
        controller = controller(config, pool);
        streams = new StreamManagerImpl(controller, pool);
        metadata = new StreamMetadata(controller, pool);
        targets = new TargetStreams(controller, streams, metadata);
        tables = new KeyValueTables(controller, pool);
        inputs = new SegmentInputStreamFactoryImpl(controller, pool);
        outputs = new SegmentOutputStreamFactoryImpl(controller, pool);
        promptWriters = new PromptWriters(config, controller, connections);
        leases = new TransactionLeases(config, controller, pool.getInternalExecutor());
    }

    /** Without certificates that can be read there is none, and no use for the pool. */
    private static Controller controller(ClientConfig config, ConnectionPool pool) {
        try {
            return new ControllerImpl(
                    ControllerImplConfig.builder().clientConfig(config).build(), pool.getInternalExecutor());
        } catch (RuntimeException | Error failed) {
            pool.close();
            throw failed;
        }
    }

    public URI cluster() {
        return cluster;
    }

    public ConnectionPool pool() {
        return pool;
    }

    public Controller controller() {
        return controller;
    }

    public StreamManager streams() {
        return streams;
    }

    public StreamMetadata metadata() {
        return metadata;
    }

    public TargetStreams targets() {
        return targets;
    }

    public KeyValueTables tables() {
        return tables;
    }

    public TransactionLeases leases() {
        return leases;
    }

    public SegmentInputStreamFactory inputs() {
        return inputs;
    }

    public SegmentOutputStreamFactory outputs() {
        return outputs;
    }

    public PromptWriters promptWriters() {
        return promptWriters;
    }

    public EventStreamWriter<byte[]> eventWriter(Stream stream) {
        return factories
                .computeIfAbsent(stream.getScope(), scope -> new ClientFactoryImpl(scope, controller, pool))
                .createEventWriter(stream.getStreamName(), new ByteArraySerializer(), WRITERS);
    }

    /**
     * What is kept for a query as long as this connection is open: made when it is first asked for, closed with the
     * connection. There is one such thing for each query.
     */
    @SuppressWarnings("unchecked")
    public <T extends Kept> T kept(UUID query, Supplier<T> made) {
        return (T) queries.computeIfAbsent(query, absent -> made.get());
    }

    /** Closes what reads and queries have left that came to an end. */
    void closeUnused() {
        metadata.closeUnused();
        queries.values().removeIf(Kept::closeIfUnused);
    }

    void close() {
        try {
            leases.close();
            queries.values().forEach(Kept::close);
            metadata.close();
            tables.close();
            promptWriters.close();
            factories.values().forEach(ClientFactoryImpl::close);
        } finally {
            controller.close();
            pool.close();
        }
    }
}
