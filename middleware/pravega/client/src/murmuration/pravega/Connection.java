package murmuration.pravega;

import io.pravega.client.ClientConfig;
import io.pravega.client.admin.impl.StreamCutHelper;
import io.pravega.client.connection.impl.ConnectionPool;
import io.pravega.client.connection.impl.ConnectionPoolImpl;
import io.pravega.client.connection.impl.SocketConnectionFactoryImpl;
import io.pravega.client.control.impl.Controller;
import io.pravega.client.control.impl.ControllerImpl;
import io.pravega.client.control.impl.ControllerImplConfig;
import io.pravega.client.segment.impl.SegmentInputStreamFactoryImpl;
import io.pravega.client.stream.EventWriterConfig;
import io.pravega.client.stream.RetentionPolicy;
import io.pravega.client.stream.ScalingPolicy;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.StreamConfiguration;
import io.pravega.client.stream.StreamCut;
import io.pravega.client.stream.impl.ClientFactoryImpl;
import io.pravega.client.tables.KeyValueTable;
import io.pravega.client.tables.KeyValueTableClientConfiguration;
import io.pravega.client.tables.KeyValueTableConfiguration;
import io.pravega.client.tables.impl.KeyValueTableFactoryImpl;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One scope of a Pravega cluster. Every call ends within {@code timeoutMs}, by a {@link TimeoutException} if need be:
 * the client itself tries for minutes.
 */
public final class Connection implements AutoCloseable {
    private static final String GROUPS = "consumer-groups";
    private static final int CONNECTIONS_PER_STORE = 2;

    private final String scope;
    private final long timeoutMs;
    private final ConnectionPool pool;
    private final Controller controller;
    private final StreamCutHelper cuts;
    private final SegmentInputStreamFactoryImpl inputs;
    private KeyValueTable groups;

    public Connection(String controllerUri, String scope, long timeoutMs) {
        this.scope = scope;
        this.timeoutMs = timeoutMs;
        ClientConfig config = ClientConfig.builder()
                .controllerURI(URI.create(controllerUri))
                .maxConnectionsPerSegmentStore(CONNECTIONS_PER_STORE).build();
        pool = new ConnectionPoolImpl(config, new SocketConnectionFactoryImpl(config));
        controller = new ControllerImpl(
                ControllerImplConfig.builder().clientConfig(config).build(), pool.getInternalExecutor());
        cuts = new StreamCutHelper(controller, pool);
        inputs = new SegmentInputStreamFactoryImpl(controller, pool);
    }

    /** Creates the scope and the table of the consumer groups, and reads that: both kinds of servers must answer. */
    public void prepare() throws Exception {
        result(controller.createScope(scope));
        new GroupRecord(groups(), GroupRecord.key("ready"), timeoutMs).read();
    }

    /** Does nothing if the stream exists. */
    public void createStream(String stream, int segments, long retentionBytes) throws Exception {
        result(controller.createScope(scope));
        result(controller.createStream(scope, stream, StreamConfiguration.builder()
                .scalingPolicy(ScalingPolicy.fixed(segments))
                .retentionPolicy(RetentionPolicy.bySizeBytes(retentionBytes)).build()));
    }

    public boolean exists(String stream) throws Exception {
        return result(controller.checkScopeExists(scope)) && result(controller.checkStreamExists(scope, stream));
    }

    /** Offset of the first event of each segment: id, offset, id, offset, … */
    public long[] head(String stream) throws Exception {
        return pairs(result(cuts.fetchHeadStreamCut(Stream.of(scope, stream))));
    }

    /** Offset after the last event of each segment, in the form of {@link #head}. */
    public long[] tail(String stream) throws Exception {
        return pairs(result(cuts.fetchTailStreamCut(Stream.of(scope, stream))));
    }

    public BlockWriter writer(String stream, int maxEvents, long maxBytes) throws Exception {
        result(controller.getCurrentSegments(scope, stream)); // in time: the writer itself would ask for minutes
        return new BlockWriter(new ClientFactoryImpl(scope, controller, pool).createEventWriter(
                stream, new BlockWriter.Bytes(), EventWriterConfig.builder().build()),
                maxEvents, maxBytes);
    }

    public BlockReader reader(String stream) {
        return new BlockReader(inputs, scope, stream);
    }

    public GroupRecord group(String stream, String group) throws Exception {
        return new GroupRecord(groups(), GroupRecord.key(stream + '/' + group), timeoutMs);
    }

    private synchronized KeyValueTable groups() throws Exception {
        if (groups == null) {
            result(controller.createKeyValueTable(scope, GROUPS, KeyValueTableConfiguration.builder()
                    .partitionCount(1).primaryKeyLength(GroupRecord.KEY_BYTES).secondaryKeyLength(0).build()));
            groups = new KeyValueTableFactoryImpl(scope, controller, pool)
                    .forKeyValueTable(GROUPS, KeyValueTableClientConfiguration.builder().build());
        }
        return groups;
    }

    @Override
    public void close() {
        controller.close();
        pool.close();
    }

    private <T> T result(CompletableFuture<T> future) throws Exception {
        return result(future, timeoutMs);
    }

    static <T> T result(CompletableFuture<T> future, long timeoutMs) throws Exception {
        try {
            return future.get(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            throw new TimeoutException("no answer within " + timeoutMs + " ms");
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof Exception cause ? cause : failed;
        }
    }

    private static long[] pairs(StreamCut cut) {
        return cut.asImpl().getPositions().entrySet().stream()
                .flatMapToLong(at -> java.util.stream.LongStream.of(at.getKey().getSegmentId(), at.getValue()))
                .toArray();
    }
}
