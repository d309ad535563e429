// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import io.github.murmuration.nats.spark.client.EventStream;
import io.github.murmuration.nats.spark.client.PartitionState;
import io.nats.client.support.JsonParser;
import io.nats.client.support.JsonValue;
import io.nats.client.support.JsonValueUtils;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What a driver notes before an epoch's tasks begin.
 *
 * @param tasks by which the epoch is written
 * @param last for each JetStream stream a sequence which everything of this epoch comes after
 * @param driver the run of the query that wrote it
 */
record EpochRecord(long epoch, int tasks, String driver, TreeMap<String, Long> last) implements Serializable {
    byte[] json() {
        String sequences = last.entrySet().stream().map(each -> "\"" + each.getKey() + "\":" + each.getValue())
                .collect(Collectors.joining(",", "{", "}"));
        return ("{\"epoch\":" + epoch + ",\"tasks\":" + tasks + ",\"driver\":\"" + driver + "\",\"last\":" + sequences
                + "}").getBytes(StandardCharsets.UTF_8);
    }

    static EpochRecord of(byte[] json) {
        JsonValue value = JsonParser.parseUnchecked(json);
        TreeMap<String, Long> last = new TreeMap<>();
        for (Map.Entry<String, JsonValue> each : JsonValueUtils.readObject(value, "last").map.entrySet()) {
            last.put(each.getKey(), JsonValueUtils.getLong(each.getValue(), 0));
        }
        return new EpochRecord(
                JsonValueUtils.readLong(value, "epoch", -1),
                JsonValueUtils.readInteger(value, "tasks", 0),
                JsonValueUtils.readString(value, "driver", ""),
                last);
    }

    /** Of a stream that is not noted, as one that was created later, 0. */
    long last(String stream) {
        return last.getOrDefault(stream, 0L);
    }

    /**
     * To how many partitions of a stream the epoch's rows go, whenever they are written: among more of them a key would
     * have another one, where nobody looks for what is there. 0 of a stream that is not noted.
     */
    int partitions(EventStream stream) {
        int found = 0;
        while (last.containsKey(stream.partition(found))) {
            found++;
        }
        return found;
    }

    /** As it holds of the streams that there are now: one made anew begins again, maybe with fewer partitions. */
    EpochRecord among(Map<String, PartitionState> now) {
        TreeMap<String, Long> left = new TreeMap<>(last);
        left.keySet().retainAll(now.keySet());
        left.replaceAll((partition, sequence) -> now.get(partition).last() < sequence ? 0 : sequence);
        return new EpochRecord(epoch, tasks, driver, left);
    }

    EpochRecord by(String otherDriver, int otherTasks) {
        return new EpochRecord(epoch, otherTasks, otherDriver, last);
    }
}
