// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.client.stream;

import io.github.murmuration.pravega.spark.PravegaOptions;
import io.github.murmuration.pravega.spark.client.Waiting;
import io.pravega.client.admin.StreamManager;
import io.pravega.client.control.impl.Controller;
import io.pravega.client.stream.ScalingPolicy;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.impl.StreamSegments;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** The streams that this JVM writes to, or begins to read: created where they are absent, and what is known of them. */
public final class TargetStreams {
    private static final long FIXED_SEGMENTS_SECONDS = 10;

    private record FixedSegments(Optional<StreamSegments> segments, long at) {
    }

    private final Controller controller;
    private final StreamManager streams;
    private final StreamMetadata metadata;
    private final Set<Stream> existing = ConcurrentHashMap.newKeySet();
    private final Map<Stream, FixedSegments> fixedSegments = new ConcurrentHashMap<>();

    public TargetStreams(Controller controller, StreamManager streams, StreamMetadata metadata) {
        this.controller = controller;
        this.streams = streams;
        this.metadata = metadata;
    }

    /**
     * Creates scope and stream as far as the options allow it and they do not exist.
     *
     * @throws IllegalArgumentException if one does not exist and must not be created
     */
    public void ensureExists(Stream stream, PravegaOptions options) {
        if (existing.contains(stream)) {
            return;
        }
        if (!scopeExists(stream.getScope())) {
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

    public boolean scopeExists(String scope) {
        return Waiting.on(controller.checkScopeExists(scope));
    }

    /**
     * The open segments of a stream that does not scale by itself; none of one that does, or is sealed. It is created
     * as {@link #ensureExists} does. What was found is remembered for {@value #FIXED_SEGMENTS_SECONDS} s, unless it
     * turns out to be wrong before.
     */
    public Optional<StreamSegments> fixedSegments(Stream stream, PravegaOptions options) {
        FixedSegments known = fixedSegments.get(stream);
        if (known != null && System.nanoTime() - known.at < TimeUnit.SECONDS.toNanos(FIXED_SEGMENTS_SECONDS)) {
            return known.segments;
        }
        ensureExists(stream, options);
        long now = System.nanoTime();
        ScalingPolicy.ScaleType scaling = metadata.configuration(stream).getScalingPolicy().getScaleType();
        Optional<StreamSegments> segments = scaling == ScalingPolicy.ScaleType.FIXED_NUM_SEGMENTS
                ? Optional.of(metadata.openSegments(stream)).filter(open -> open.getNumberOfSegments() > 0)
                : Optional.empty();
        fixedSegments.put(stream, new FixedSegments(segments, now));
        return segments;
    }

    public void forgetSegments(Stream stream) {
        fixedSegments.remove(stream);
    }

    /** What is known of a stream that is changed or deleted. */
    public void forget(Stream stream) {
        existing.remove(stream);
        forgetSegments(stream);
    }

    private static void refuseUnless(boolean allowed, String option, String absent) {
        if (!allowed) {
            throw new IllegalArgumentException(absent + " does not exist and " + option + " is false");
        }
    }
}
