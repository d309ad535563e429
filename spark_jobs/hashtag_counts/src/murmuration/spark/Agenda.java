package murmuration.spark;

import java.nio.ByteBuffer;
import java.util.function.LongConsumer;

/**
 * What to look at when the watermark passes the end of a bucket: slices of ids that may be forgotten then.
 *
 * <p>State: by the end of a bucket, the numbers of the slices. An entry, which may be empty, tells that Spark has a
 * timer for that time: it warns of one that is registered again.
 */
final class Agenda {
    private static final byte[] NOTHING = {};

    private final StateMap slicesByEnd;
    private final LongConsumer registerTimer;

    Agenda(StateMap slicesByEnd, LongConsumer registerTimer) {
        this.slicesByEnd = slicesByEnd;
        this.registerTimer = registerTimer;
    }

    void add(long bucketEndMs, long... slices) {
        byte[] before = slicesByEnd.get(bucketEndMs);
        if (before == null) {
            registerTimer.accept(bucketEndMs);
            before = NOTHING;
        } else if (slices.length == 0) {
            return;
        }
        ByteBuffer after = ByteBuffer.allocate(before.length + slices.length * Long.BYTES).put(before);
        for (long slice : slices) {
            after.putLong(slice);
        }
        slicesByEnd.put(bucketEndMs, after.array());
    }

    /** The slices due at this time, which has come; its timer ends by itself. */
    long[] take(long bucketEndMs) {
        byte[] due = slicesByEnd.get(bucketEndMs);
        if (due == null) {
            return new long[0];
        }
        slicesByEnd.remove(bucketEndMs);
        long[] slices = new long[due.length / Long.BYTES];
        ByteBuffer.wrap(due).asLongBuffer().get(slices);
        return slices;
    }
}
