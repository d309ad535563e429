package murmuration.spark;

import java.nio.ByteBuffer;

/**
 * The tweet ids of one slice, which is about a second of X's ids: those that are equal but for the lower 32 bits.
 *
 * <p>Packed as the latest {@code created_at} among its tweets, in ms, and the lower 32 bits of each id, in no order.
 */
final class IdSlice {
    static final int BITS = 32;
    private static final int SMALLEST = 64;

    private int[] table; // open addressing; 0 is a free place
    private int used;
    private boolean hasZero;
    private final boolean isNew;
    private boolean changed;
    private long latestMs = Long.MIN_VALUE;

    /** An empty one. */
    IdSlice() {
        isNew = true;
        table = new int[SMALLEST];
    }

    IdSlice(byte[] packed) {
        isNew = false;
        ByteBuffer bytes = ByteBuffer.wrap(packed);
        latestMs = bytes.getLong();
        int ids = bytes.remaining() / Integer.BYTES;
        table = new int[Math.max(SMALLEST, Integer.highestOneBit(ids) << 2)];
        while (bytes.hasRemaining()) {
            insert(bytes.getInt());
        }
    }

    static long latestMs(byte[] packed) {
        return ByteBuffer.wrap(packed).getLong();
    }

    /** False if the slice has the id already. */
    boolean add(int id, long createdMs) {
        if (!insert(id)) {
            return false;
        }
        latestMs = Math.max(latestMs, createdMs);
        changed = true;
        if (used > table.length / 2) {
            grow();
        }
        return true;
    }

    long latestMs() {
        return latestMs;
    }

    boolean isNew() {
        return isNew;
    }

    boolean isChanged() {
        return changed;
    }

    byte[] toBytes() {
        int ids = used + (hasZero ? 1 : 0);
        ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES + ids * Integer.BYTES).putLong(latestMs);
        if (hasZero) {
            bytes.putInt(0);
        }
        for (int id : table) {
            if (id != 0) {
                bytes.putInt(id);
            }
        }
        return bytes.array();
    }

    private boolean insert(int id) {
        if (id == 0) {
            boolean isNew = !hasZero;
            hasZero = true;
            return isNew;
        }
        int mask = table.length - 1;
        int at = (id * 0x9E3779B9) >>> Integer.numberOfLeadingZeros(mask); // the upper bits are the well mixed ones
        while (table[at] != 0) {
            if (table[at] == id) {
                return false;
            }
            at = (at + 1) & mask;
        }
        table[at] = id;
        used++;
        return true;
    }

    private void grow() {
        int[] ids = table;
        table = new int[2 * ids.length];
        used = 0;
        for (int id : ids) {
            if (id != 0) {
                insert(id);
            }
        }
    }
}
