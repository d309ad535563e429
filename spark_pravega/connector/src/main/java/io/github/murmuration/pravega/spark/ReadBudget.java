package io.github.murmuration.pravega.spark;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.connector.read.streaming.CompositeReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReadMaxBytes;
import org.apache.spark.sql.connector.read.streaming.ReadMaxRows;

/** How many events and bytes one micro-batch may read. A single event may exceed the bytes, or it would never be read. */
record ReadBudget(long events, long bytes) {
    private static final long UNLIMITED = Long.MAX_VALUE;

    /** Pravega stores eight bytes in front of every event. */
    private static final int EVENT_HEADER_BYTES = 8;

    /** Finds event boundaries. */
    interface Boundaries {
        /**
         * Offset after the last event that lies wholly in the first {@code bytes} of the slice and is among its first
         * {@code events}; never before the end of the first {@code atLeast} events.
         */
        long offset(SegmentSlice slice, long atLeast, long events, long bytes);
    }

    static ReadBudget of(ReadLimit limit) {
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
    List<SegmentSlice> limit(List<SegmentSlice> slices, Boundaries boundaries) {
        long available = slices.stream().mapToLong(SegmentSlice::bytes).sum();
        if (available <= bytes && available / EVENT_HEADER_BYTES <= events) {
            return slices;
        }
        List<SegmentSlice> largestFirst = new ArrayList<>(slices);
        largestFirst.sort(Comparator.comparingLong(SegmentSlice::bytes).reversed());
        List<SegmentSlice> limited = new ArrayList<>();
        long roundedOff = events == UNLIMITED
                ? 0 : events - largestFirst.stream().mapToLong(slice -> share(events, slice, available)).sum();
        long atLeast = 1;
        for (SegmentSlice slice : largestFirst) {
            long eventShare = share(events, slice, available) + (roundedOff-- > 0 ? 1 : 0);
            long byteShare = share(bytes, slice, available);
            boolean whole = slice.bytes() <= byteShare && slice.bytes() / EVENT_HEADER_BYTES <= eventShare;
            long end = whole ? slice.end() : boundaries.offset(slice, atLeast, eventShare, byteShare);
            if (end > slice.start()) {
                limited.add(slice.upTo(end));
            }
            atLeast = 0;
        }
        return limited;
    }

    private static long share(long budget, SegmentSlice slice, long available) {
        return budget == UNLIMITED ? UNLIMITED : (long) (budget * ((double) slice.bytes() / available));
    }
}
