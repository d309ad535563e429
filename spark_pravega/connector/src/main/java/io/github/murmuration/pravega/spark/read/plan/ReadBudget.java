// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.plan;

import io.github.murmuration.pravega.spark.client.SideBySide;
import io.github.murmuration.pravega.spark.read.segment.SegmentSlice;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.connector.read.streaming.CompositeReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReadMaxBytes;
import org.apache.spark.sql.connector.read.streaming.ReadMaxRows;

/** How many events and bytes one micro-batch may read. A single event may exceed the bytes: else it never came. */
public record ReadBudget(long events, long bytes) {
    static final long UNLIMITED = Long.MAX_VALUE;

    /** Finds event boundaries. */
    interface Boundaries {
        /**
         * Offset after the last event that lies wholly in the first {@code bytes} of the slice and is among its first
         * {@code events}, or after one a little before it; never before the end of the first {@code atLeast} events.
         */
        long offset(SegmentSlice slice, long atLeast, long events, long bytes);

        /** Bytes that an event takes at least, with its header. */
        default long leastBytes() {
            return SeenEvents.HEADER_BYTES;
        }
    }

    /** What one slice may give. */
    private record Share(SegmentSlice slice, long atLeast, long events, long bytes) {
        boolean isWhole(long eventBytes) {
            return slice.bytes() <= bytes && slice.bytes() / eventBytes <= events;
        }
    }

    public static ReadBudget of(ReadLimit limit) {
        if (limit instanceof ReadMaxRows rows) {
            return new ReadBudget(rows.maxRows(), UNLIMITED);
        }
        if (limit instanceof ReadMaxBytes bytes) {
            return new ReadBudget(UNLIMITED, bytes.maxBytes());
        }
        ReadBudget budget = new ReadBudget(UNLIMITED, UNLIMITED);
        if (limit instanceof CompositeReadLimit composite) {
            for (ReadLimit part : composite.getReadLimits()) {
                ReadBudget other = of(part);
                budget = new ReadBudget(
                        Math.min(budget.events, other.events), Math.min(budget.bytes, other.bytes));
            }
        }
        return budget;
    }

    /** The beginnings of the slices that the budget allows, in proportion to their sizes. */
    List<SegmentSlice> limit(List<SegmentSlice> slices, Boundaries boundaries, Turns turns) {
        long available = slices.stream().mapToLong(SegmentSlice::bytes).sum();
        boolean isFew = available / SeenEvents.HEADER_BYTES <= events;
        long eventBytes = isFew ? SeenEvents.HEADER_BYTES : boundaries.leastBytes();
        if (available <= bytes && available / eventBytes <= events) {
            return slices;
        }
        List<SegmentSlice> limited = SideBySide.map(shares(turns.inOrder(slices), available), share -> share.slice.upTo(
                share.isWhole(eventBytes)
                        ? share.slice.end()
                        : boundaries.offset(share.slice, share.atLeast, share.events, share.bytes)))
                .stream().filter(slice -> slice.bytes() > 0).toList();
        turns.given(slices, limited);
        return limited;
    }

    /** The first slice gets an event in any case. */
    private List<Share> shares(List<SegmentSlice> slices, long available) {
        long roundedOff = events == UNLIMITED
                ? 0 : events - slices.stream().mapToLong(slice -> share(events, slice, available)).sum();
        List<Share> shares = new ArrayList<>();
        for (SegmentSlice slice : slices) {
            long eventShare = share(events, slice, available) + (roundedOff-- > 0 ? 1 : 0);
            shares.add(new Share(slice, shares.isEmpty() ? 1 : 0, eventShare, share(bytes, slice, available)));
        }
        return shares;
    }

    private static long share(long budget, SegmentSlice slice, long available) {
        return budget == UNLIMITED ? UNLIMITED : (long) (budget * ((double) slice.bytes() / available));
    }
}
