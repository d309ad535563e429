// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.realtime;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.read.plan.PravegaOffset;
import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.impl.StreamCutImpl;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;

/** How far one task of a real-time batch has read; {@code ofAll} is the number of these tasks. */
public record RealTimeOffset(Segment segment, long position, int ofAll) implements PartitionOffset {
    /** @throws PravegaException if a task is missing: without its segment, events of some keys would be lost */
    public static PravegaOffset merge(Stream stream, PartitionOffset[] offsets) {
        RealTimeOffset[] own = Arrays.copyOf(offsets, offsets.length, RealTimeOffset[].class);
        Map<Segment, Long> positions = Arrays.stream(own)
                .collect(Collectors.toMap(RealTimeOffset::segment, RealTimeOffset::position, Math::min));
        if (own.length == 0 || positions.size() != own[0].ofAll()) {
            throw new PravegaException("only " + positions.size() + " tasks of a real-time batch told how far they had "
                    + "read " + stream.getScopedName() + ": every task has to read until its batch ends");
        }
        return new PravegaOffset(new StreamCutImpl(stream, positions));
    }
}
