package murmuration.spark;

import java.nio.ByteBuffer;
import java.security.SecureRandom;

/** A set of tweet ids, any 64 bits: counted from 1, hashed or X's. Packed as their number and, in no order, they. */
final class TweetIds {
    private static final int SMALLEST = 64;
    /** Odd; of this process alone: whoever knew it could choose ids that all want the same place. */
    private static final long MULTIPLIER = new SecureRandom().nextLong() | 1;

    private long[] table; // open addressing, at most half full; 0 is a free place
    private int used;
    private boolean hasZero;

    /** An empty one. */
    TweetIds() {
        table = new long[SMALLEST];
    }

    TweetIds(ByteBuffer packed) {
        int ids = packed.getInt();
        table = new long[Math.max(SMALLEST, Integer.highestOneBit(ids) << 2)];
        for (int left = ids; left > 0; left--) {
            add(packed.getLong());
        }
    }

    /** False if it is there already. */
    boolean add(long id) {
        if (id == 0) {
            boolean isNew = !hasZero;
            hasZero = true;
            return isNew;
        }
        int mask = table.length - 1;
        int at = place(id, mask);
        while (table[at] != 0) {
            if (table[at] == id) {
                return false;
            }
            at = (at + 1) & mask;
        }
        table[at] = id;
        used++;
        if (used > table.length / 2) {
            grow();
        }
        return true;
    }

    int size() {
        return used + (hasZero ? 1 : 0);
    }

    /** How many places a look for one of them passes over, on average. */
    double steps() {
        int mask = table.length - 1;
        long steps = 0;
        for (int at = 0; at < table.length; at++) {
            if (table[at] != 0) {
                steps += at - place(table[at], mask) & mask;
            }
        }
        return (double) steps / used;
    }

    void pack(Packing bytes) {
        bytes.putInt(size());
        if (hasZero) {
            bytes.putLong(0);
        }
        for (long id : table) {
            if (id != 0) {
                bytes.putLong(id);
            }
        }
    }

    /** By the upper bits of a product, which are the well mixed ones. */
    private static int place(long id, int mask) {
        return (int) (id * MULTIPLIER >>> Long.numberOfLeadingZeros(mask));
    }

    private void grow() {
        long[] ids = table;
        table = new long[2 * ids.length];
        int mask = table.length - 1;
        for (long id : ids) {
            if (id != 0) {
                int at = place(id, mask);
                while (table[at] != 0) {
                    at = (at + 1) & mask;
                }
                table[at] = id;
            }
        }
    }
}
