// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.cluster;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * One epoch of a long query: the rows {@code from} to {@code until - 1}. The same seed gives every process the same
 * epochs.
 *
 * @param keyed whether its rows have routing keys
 * @param bytes of each event
 */
record PlannedEpoch(long from, long until, boolean keyed, int bytes) implements Serializable {
    static final int KEYS = 64;
    /** In turns: s and k are hundreds of rows, S and K tens of thousands; k and K have keys. */
    static final String TURNS = "ssssssKsssssskS";
    private static final int PARTITIONS = 2;
    private static final int BYTES = 100;
    /** So tens of thousands of rows are more than can be appended: in each turn S or K, the other is appended. */
    private static final int MANY_BYTES = 600;

    static List<PlannedEpoch> all(long seed, long rows) {
        Random random = new Random(seed);
        List<PlannedEpoch> epochs = new ArrayList<>();
        char many = 'S';
        for (long from = 0; from < rows; from = epochs.get(epochs.size() - 1).until()) {
            int place = epochs.size() % TURNS.length();
            if (place == 0) {
                many = random.nextBoolean() ? 'S' : 'K';
            }
            char turn = TURNS.charAt(place);
            int size = Character.isUpperCase(turn) ? 20_000 + random.nextInt(30_000) : 100 + random.nextInt(900);
            int bytes = turn == many ? MANY_BYTES : BYTES;
            epochs.add(new PlannedEpoch(
                    from, Math.min(rows, from + size), Character.toLowerCase(turn) == 'k', bytes));
        }
        return epochs;
    }

    /** Two tasks, each with all rows of its keys in their order. */
    InputPartition[] partitions() {
        InputPartition[] partitions = new InputPartition[PARTITIONS];
        for (int partition = 0; partition < PARTITIONS; partition++) {
            partitions[partition] = new Rows(this, partition);
        }
        return partitions;
    }

    record Rows(PlannedEpoch epoch, int partition) implements InputPartition {
        /** The first row after {@code row} that is of this partition; the end, if there is none. */
        long after(long row) {
            long next = row + 1;
            return Math.floorMod(next, PARTITIONS) == partition ? next : next + 1;
        }

        /** What {@link StreamContents} reads back. */
        UTF8String event(long row) {
            byte[] padded = " ".repeat(epoch.bytes()).getBytes(StandardCharsets.US_ASCII);
            byte[] text = ((epoch.keyed() ? StreamContents.KEYED : StreamContents.KEYLESS) + "" + row)
                    .getBytes(StandardCharsets.US_ASCII);
            System.arraycopy(text, 0, padded, 0, text.length);
            return UTF8String.fromBytes(padded);
        }

        UTF8String routingKey(long row) {
            return epoch.keyed() ? UTF8String.fromString("key-" + row % KEYS) : null;
        }
    }
}
