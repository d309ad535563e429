package murmuration.spark;

import org.apache.spark.sql.streaming.MapState;

/**
 * One of the maps that share Spark's map state: the lower bits of a key tell which. Of each state variable Spark
 * derives its encoders anew in every task, which takes longer than counting a batch.
 */
final class StateMap {
    private static final int KIND_BITS = 2;

    private final MapState<Long, byte[]> all;
    private final int kind;

    StateMap(MapState<Long, byte[]> all, int kind) {
        this.all = all;
        this.kind = kind;
    }

    /** Null if there is none. */
    byte[] get(long number) {
        return all.getValue(key(number));
    }

    void put(long number, byte[] value) {
        all.updateValue(key(number), value);
    }

    void remove(long number) {
        all.removeKey(key(number));
    }

    private long key(long number) {
        return number << KIND_BITS | kind;
    }
}
