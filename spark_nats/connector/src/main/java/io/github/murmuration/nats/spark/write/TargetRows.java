// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import io.github.murmuration.nats.spark.NatsOptions;
import io.github.murmuration.nats.spark.client.EventStream;
import io.github.murmuration.nats.spark.client.Keys;
import io.github.murmuration.spark.common.write.EventColumns;
import io.github.murmuration.spark.common.write.PartitionOfKey;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.ToIntFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.unsafe.types.UTF8String;

/** The rows of a task by target stream and partition. */
final class TargetRows {
    private final NatsOptions options;
    private final EventColumns columns;
    private final ToIntFunction<EventStream> partitions;
    private final boolean byContent;
    private final Map<String, Target> targets = new LinkedHashMap<>();
    private Target last;

    /** A stream, and what its partitions get. */
    private static final class Target {
        final EventStream stream;
        final Rows[] rows;
        int turn;

        Target(EventStream stream, int partitions) {
            this.stream = stream;
            rows = new Rows[partitions];
        }
    }

    /** One partition of a target stream. */
    record Partition(EventStream stream, int number) {
    }

    /**
     * @param partitions how many of them a stream has; it is asked once for each
     * @param byContent whether the partition of a row without a key depends on its event alone, so that the row goes to
     *     the same one when it is written again; otherwise such rows go round
     */
    TargetRows(NatsOptions options, EventColumns columns, ToIntFunction<EventStream> partitions, boolean byContent) {
        this.options = options;
        this.columns = columns;
        this.partitions = partitions;
        this.byContent = byContent;
    }

    /** The partition's rows, with this one. */
    Rows add(InternalRow row) {
        Target target = target(columns.stream(row));
        byte[] event = columns.event(row);
        UTF8String key = columns.key(row);
        int partition = partition(target, key, event);
        if (target.rows[partition] == null) {
            target.rows[partition] = new Rows();
        }
        target.rows[partition].add(key == null ? null : Keys.header(key.toString()), event);
        return target.rows[partition];
    }

    void forEach(BiConsumer<Partition, Rows> action) {
        for (Target target : targets.values()) {
            for (int partition = 0; partition < target.rows.length; partition++) {
                if (target.rows[partition] != null) {
                    action.accept(new Partition(target.stream, partition), target.rows[partition]);
                }
            }
        }
    }

    void clear() {
        targets.values().forEach(target -> java.util.Arrays.fill(target.rows, null));
    }

    private int partition(Target target, UTF8String key, byte[] event) {
        if (key != null) {
            return PartitionOfKey.of(key.getBytes(), target.rows.length);
        }
        return byContent ? PartitionOfKey.of(event, target.rows.length) : target.turn++ % target.rows.length;
    }

    private Target target(String name) {
        if (last == null || !last.stream.name().equals(name)) {
            last = targets.computeIfAbsent(name, absent -> {
                EventStream stream = options.stream(name);
                return new Target(stream, partitions.applyAsInt(stream));
            });
        }
        return last;
    }
}
