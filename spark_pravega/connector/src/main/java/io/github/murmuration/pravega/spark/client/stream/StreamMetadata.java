// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.client.stream;

import io.github.murmuration.pravega.shaded.io.grpc.Status;
import io.github.murmuration.pravega.shaded.io.grpc.StatusRuntimeException;
import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.client.Waiting;
import io.pravega.client.admin.impl.StreamCutHelper;
import io.pravega.client.connection.impl.ConnectionPool;
import io.pravega.client.control.impl.Controller;
import io.pravega.client.security.auth.DelegationTokenProviderFactory;
import io.pravega.client.segment.impl.NoSuchSegmentException;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.segment.impl.SegmentMetadataClient;
import io.pravega.client.segment.impl.SegmentMetadataClientFactoryImpl;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.StreamConfiguration;
import io.pravega.client.stream.StreamCut;
import io.pravega.client.stream.impl.StreamSegments;
import io.pravega.client.stream.impl.StreamSegmentsWithPredecessors;
import io.pravega.shared.security.auth.AccessOperation;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** What the controller and the segment stores tell of streams and of their segments. */
public final class StreamMetadata {
    private final Controller controller;
    private final StreamCutHelper cuts;
    private final SegmentMetadataClientFactoryImpl segments;
    private final Map<Stream, StreamTail> tails = new ConcurrentHashMap<>();
    private final Map<Stream, StreamEpoch> epochs = new ConcurrentHashMap<>();

    public StreamMetadata(Controller controller, ConnectionPool pool) {
        this.controller = controller;
        cuts = new StreamCutHelper(controller, pool);
        segments = new SegmentMetadataClientFactoryImpl(controller, pool);
    }

    public StreamConfiguration configuration(Stream stream) {
        return Waiting.on(controller.getStreamConfiguration(stream.getScope(), stream.getStreamName()));
    }

    public StreamCut head(Stream stream) {
        return answer(stream, cuts.fetchHeadStreamCut(stream));
    }

    /** The ends of the segments that are open now: none, if the stream is sealed. */
    public StreamCut tail(Stream stream) {
        return tails.computeIfAbsent(stream, each ->
                new StreamTail(each, () -> openSegments(each).getSegments(), this::client)).cut();
    }

    StreamSegments openSegments(Stream stream) {
        return answer(stream, askOpenSegments(stream));
    }

    public StreamEpoch epoch(Stream stream) {
        return epochs.computeIfAbsent(stream, each -> new StreamEpoch(
                () -> askOpenSegments(each).thenApply(StreamSegments::getSegments)));
    }

    public StreamSegmentsWithPredecessors successors(Segment segment) {
        return answer(segment.getStream(), controller.getSuccessors(segment));
    }

    /** Offset after the last event of a segment. */
    public long length(Segment segment) {
        try (SegmentMetadataClient client = client(segment)) {
            return Waiting.on(client.getSegmentInfo()).getWriteOffset();
        }
    }

    /** Offset of the first event of a segment that was not truncated; behind all of them, if the segment is gone. */
    public long firstOffset(Segment segment) {
        try (SegmentMetadataClient client = client(segment)) {
            return Waiting.on(client.getSegmentInfo()).getStartingOffset();
        } catch (NoSuchSegmentException truncated) {
            return Long.MAX_VALUE;
        }
    }

    /** Closes what reads have left that came to an end. */
    public void closeUnused() {
        tails.values().removeIf(StreamTail::closeIfUnused);
    }

    public void close() {
        tails.values().forEach(StreamTail::close);
    }

    private CompletableFuture<StreamSegments> askOpenSegments(Stream stream) {
        return controller.getCurrentSegments(stream.getScope(), stream.getStreamName());
    }

    private SegmentMetadataClient client(Segment segment) {
        return segments.createSegmentMetadataClient(
                segment, DelegationTokenProviderFactory.create(controller, segment, AccessOperation.READ));
    }

    /** @throws PravegaException if the stream does not exist, as between its deletion and its creation anew */
    private static <T> T answer(Stream stream, CompletableFuture<T> asked) {
        try {
            return Waiting.on(asked);
        } catch (StatusRuntimeException answer) {
            throw answer.getStatus().getCode() == Status.Code.NOT_FOUND ? PravegaException.noStream(stream) : answer;
        }
    }
}
