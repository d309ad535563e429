package io.github.murmuration.pravega.spark;

import io.github.murmuration.pravega.shaded.io.grpc.Status;
import io.github.murmuration.pravega.shaded.io.grpc.StatusRuntimeException;
import io.pravega.client.ClientConfig;
import io.pravega.client.admin.StreamManager;
import io.pravega.client.admin.impl.StreamCutHelper;
import io.pravega.client.admin.impl.StreamManagerImpl;
import io.pravega.client.batch.SegmentIterator;
import io.pravega.client.batch.impl.SegmentIteratorImpl;
import io.pravega.client.connection.impl.ConnectionPool;
import io.pravega.client.connection.impl.ConnectionPoolImpl;
import io.pravega.client.connection.impl.SocketConnectionFactoryImpl;
import io.pravega.client.control.impl.Controller;
import io.pravega.client.control.impl.ControllerImpl;
import io.pravega.client.control.impl.ControllerImplConfig;
import io.pravega.client.segment.impl.EventSegmentReader;
import io.pravega.client.segment.impl.NoSuchSegmentException;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.segment.impl.SegmentInputStreamFactoryImpl;
import io.pravega.client.segment.impl.SegmentMetadataClient;
import io.pravega.client.segment.impl.SegmentMetadataClientFactoryImpl;
import io.pravega.client.segment.impl.SegmentOutputStreamFactory;
import io.pravega.client.segment.impl.SegmentOutputStreamFactoryImpl;
import io.pravega.client.security.auth.DelegationTokenProviderFactory;
import io.pravega.client.stream.EventStreamWriter;
import io.pravega.client.stream.EventWriterConfig;
import io.pravega.client.stream.ScalingPolicy;
import io.pravega.client.stream.Serializer;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.StreamConfiguration;
import io.pravega.client.stream.StreamCut;
import io.pravega.client.stream.impl.ByteArraySerializer;
import io.pravega.client.stream.impl.ClientFactoryImpl;
import io.pravega.client.stream.impl.StreamSegments;
import io.pravega.client.stream.impl.StreamSegmentsWithPredecessors;
import io.pravega.shared.security.auth.AccessOperation;
import java.net.URI;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The connection of this JVM to one Pravega cluster, shared by everything that reads and writes there.
 *
 * <p>One controller channel and one pool of segment store connections serve all parts of the client; Pravega's public
 * factories would open them once per scope and purpose.
 */
final class PravegaConnection {
    /**
     * Writers take connections from the pool. One of a writer's own is not reused, and after its end the client keeps
     * its buffer of 1 MiB for some 20 s: many small epochs filled the heap.
     */
    static final EventWriterConfig WRITERS =
            EventWriterConfig.builder().enableLargeEvents(true).enableConnectionPooling(true).build();

    private static final long FIXED_SEGMENTS_SECONDS = 10;

    private final URI cluster;
    private final ConnectionPool pool;
    private final Controller controller;
    private final StreamManager streams;
    private final StreamCutHelper streamCuts;
    private final SegmentInputStreamFactoryImpl inputs;
    private final SegmentMetadataClientFactoryImpl segmentMetadata;
    private final SegmentOutputStreamFactory outputs;
    private final PromptWriters promptWriters;
    private final TransactionLeases leases;
    private final KeyValueTables tables;
    private final Map<String, ClientFactoryImpl> factories = new ConcurrentHashMap<>();
    private final Set<Stream> existing = ConcurrentHashMap.newKeySet();
    private final Map<Stream, FixedSegments> fixedSegments = new ConcurrentHashMap<>();
    private final Map<Stream, StreamTail> tails = new ConcurrentHashMap<>();
    private final Map<UUID, EpochSegments> epochSegments = new ConcurrentHashMap<>();
    private final Map<Stream, StreamEpoch> epochs = new ConcurrentHashMap<>();

    private record FixedSegments(List<Segment> segments, long at) {
    }

    PravegaConnection(ClientConfig config) {
        SocketConnectionFactoryImpl connections = new SocketConnectionFactoryImpl(config);
        cluster = config.getControllerURI();
        pool = new ConnectionPoolImpl(config, connections);
        controller = controller(config, pool);
        streams = new StreamManagerImpl(controller, pool);
        streamCuts = new StreamCutHelper(controller, pool);
        inputs = new SegmentInputStreamFactoryImpl(controller, pool);
        segmentMetadata = new SegmentMetadataClientFactoryImpl(controller, pool);
        outputs = new SegmentOutputStreamFactoryImpl(controller, pool);
        promptWriters = new PromptWriters(config, controller, connections);
        leases = new TransactionLeases(config, controller, pool.getInternalExecutor());
        tables = new KeyValueTables(controller, pool);
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

    Controller controller() {
        return controller;
    }

    StreamManager streams() {
        return streams;
    }

    TransactionLeases leases() {
        return leases;
    }

    KeyValueTables tables() {
        return tables;
    }

    SegmentOutputStreamFactory outputs() {
        return outputs;
    }

    /** Where a query appends small epochs, as far as this JVM knows. */
    EpochSegments epochSegments(UUID query) {
        return epochSegments.computeIfAbsent(query, ignored ->
                new EpochSegments(cluster, query, segment -> new SegmentEpochs(controller, pool, segment, query)));
    }

    /**
     * The segments of a stream that does not scale by itself, in the order of their ids; none of one that does. It is
     * created as {@link #ensureExists} does. What was found is remembered for {@value #FIXED_SEGMENTS_SECONDS} s,
     * unless it turns out to be wrong before.
     */
    List<Segment> fixedSegments(Stream stream, PravegaOptions options) {
        FixedSegments known = fixedSegments.get(stream);
        if (known != null && System.nanoTime() - known.at < TimeUnit.SECONDS.toNanos(FIXED_SEGMENTS_SECONDS)) {
            return known.segments;
        }
        ensureExists(stream, options);
        long now = System.nanoTime();
        ScalingPolicy.ScaleType scaling = configuration(stream).getScalingPolicy().getScaleType();
        List<Segment> segments = scaling != ScalingPolicy.ScaleType.FIXED_NUM_SEGMENTS ? List.of()
                : openSegments(stream).stream().sorted(Comparator.comparing(Segment::getSegmentId)).toList();
        fixedSegments.put(stream, new FixedSegments(segments, now));
        return segments;
    }

    void forgetSegments(Stream stream) {
        fixedSegments.remove(stream);
    }

    /** What is known of a stream that is changed or deleted. */
    void forget(Stream stream) {
        existing.remove(stream);
        forgetSegments(stream);
    }

    StreamConfiguration configuration(Stream stream) {
        return Waiting.on(controller.getStreamConfiguration(stream.getScope(), stream.getStreamName()));
    }

    StreamCut head(Stream stream) {
        return answer(stream, streamCuts.fetchHeadStreamCut(stream));
    }

    /** The ends of the segments that are open now: none, if the stream is sealed. */
    StreamCut tail(Stream stream) {
        return tails.computeIfAbsent(stream, each -> new StreamTail(each, () -> openSegments(each), this::metadata)).cut();
    }

    /** Offset after the last event of a segment. */
    long length(Segment segment) {
        try (SegmentMetadataClient client = metadata(segment)) {
            return Waiting.on(client.getSegmentInfo()).getWriteOffset();
        }
    }

    StreamSegmentsWithPredecessors successors(Segment segment) {
        return answer(segment.getStream(), controller.getSuccessors(segment));
    }

    /** Offset of the first event of a segment that was not truncated; behind all of them, if the segment is gone. */
    long firstOffset(Segment segment) {
        try (SegmentMetadataClient client = metadata(segment)) {
            return Waiting.on(client.getSegmentInfo()).getStartingOffset();
        } catch (NoSuchSegmentException truncated) {
            return Long.MAX_VALUE;
        }
    }

    /**
     * Reads the events of a range; both its ends must be event boundaries.
     *
     * @param all whether a truncated event is an error; if not, it is passed over
     */
    <T> SegmentIterator<T> read(SegmentSlice slice, Serializer<T> deserializer, boolean all) {
        return all ? allEvents(slice, deserializer) : new RemainingEvents<>(this, slice, deserializer);
    }

    <T> SegmentIterator<T> allEvents(SegmentSlice slice, Serializer<T> deserializer) {
        return new SliceEvents<>(slice, (start, end) ->
                new SegmentIteratorImpl<>(inputs, slice.segment(), deserializer, start, end));
    }

    /** Reads on from an event boundary, and at the end of the segment waits for more. */
    EventSegmentReader tail(Segment segment, long offset) {
        return inputs.createEventReaderForSegment(segment, offset, Long.MAX_VALUE);
    }

    StreamEpoch epoch(Stream stream) {
        return epochs.computeIfAbsent(stream, each -> new StreamEpoch(() -> askOpenSegments(each)));
    }

    private Collection<Segment> openSegments(Stream stream) {
        return answer(stream, askOpenSegments(stream));
    }

    /** @throws PravegaException if the stream does not exist, as between its deletion and its creation anew */
    private static <T> T answer(Stream stream, CompletableFuture<T> asked) {
        try {
            return Waiting.on(asked);
        } catch (StatusRuntimeException answer) {
            throw answer.getStatus().getCode() == Status.Code.NOT_FOUND ? PravegaException.noStream(stream) : answer;
        }
    }

    private CompletableFuture<Collection<Segment>> askOpenSegments(Stream stream) {
        return controller.getCurrentSegments(stream.getScope(), stream.getStreamName())
                .thenApply(StreamSegments::getSegments);
    }

    private SegmentMetadataClient metadata(Segment segment) {
        return segmentMetadata.createSegmentMetadataClient(
                segment, DelegationTokenProviderFactory.create(controller, segment, AccessOperation.READ));
    }

    EventStreamWriter<byte[]> eventWriter(Stream stream) {
        return factories
                .computeIfAbsent(stream.getScope(), scope -> new ClientFactoryImpl(scope, controller, pool))
                .createEventWriter(stream.getStreamName(), new ByteArraySerializer(), WRITERS);
    }

    PromptWriters promptWriters() {
        return promptWriters;
    }

    /**
     * Creates scope and stream as far as the options allow it and they do not exist.
     *
     * @throws IllegalArgumentException if one does not exist and must not be created
     */
    void ensureExists(Stream stream, PravegaOptions options) {
        if (existing.contains(stream)) {
            return;
        }
        if (!Waiting.on(controller.checkScopeExists(stream.getScope()))) {
            refuseUnless(options.allowCreateScope(),
                    PravegaOptions.ALLOW_CREATE_SCOPE, "scope " + stream.getScope());
            streams.createScope(stream.getScope());
        }
        if (!Waiting.on(controller.checkStreamExists(stream.getScope(), stream.getStreamName()))) {
            refuseUnless(options.allowCreateStream(),
                    PravegaOptions.ALLOW_CREATE_STREAM, "stream " + stream.getScopedName());
            streams.createStream(stream.getScope(), stream.getStreamName(), options.streamConfiguration());
        }
        existing.add(stream);
    }

    private static void refuseUnless(boolean allowed, String option, String absent) {
        if (!allowed) {
            throw new IllegalArgumentException(absent + " does not exist and " + option + " is false");
        }
    }

    /** Closes what reads and queries have left that came to an end. */
    void closeUnused() {
        tails.values().removeIf(StreamTail::closeIfUnused);
        epochSegments.values().removeIf(EpochSegments::closeIfUnused);
    }

    void close() {
        leases.close();
        epochSegments.values().forEach(EpochSegments::close);
        tails.values().forEach(StreamTail::close);
        tables.close();
        promptWriters.close();
        factories.values().forEach(ClientFactoryImpl::close);
        controller.close();
        pool.close();
    }
}
