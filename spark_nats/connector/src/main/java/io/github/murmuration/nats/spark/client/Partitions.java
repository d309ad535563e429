// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

import io.github.murmuration.nats.spark.NatsException;
import io.github.murmuration.spark.common.client.Patience;
import io.nats.client.Message;
import io.nats.client.support.JsonParser;
import io.nats.client.support.JsonValue;
import io.nats.client.support.JsonValueUtils;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/** What JetStream knows of the partitions of streams. A server that is away is waited for. */
public final class Partitions {
    /** So many partitions are looked for at once. */
    private static final int STEP = 8;
    private static final int UNAVAILABLE = 503;
    private static final String INFO = "$JS.API.STREAM.INFO.";
    private static final String LIST = "$JS.API.STREAM.LIST";

    private Partitions() {
    }

    /**
     * States of partitions 0 to the last one before a number that does not exist.
     *
     * @throws NatsException if there is no partition 0
     */
    public static List<PartitionState> all(NatsConnection connection, EventStream stream) {
        List<PartitionState> found = new ArrayList<>();
        while (true) {
            for (Optional<PartitionState> state : some(connection, stream, found.size(), STEP)) {
                if (state.isEmpty()) {
                    return requireAny(found, stream);
                }
                found.add(state.get());
            }
        }
    }

    /** States of so many partitions as there are known to be; of one that is gone nothing. */
    public static List<Optional<PartitionState>> states(NatsConnection connection, EventStream stream, int partitions) {
        return some(connection, stream, 0, partitions);
    }

    public static Optional<PartitionState> state(NatsConnection connection, EventStream stream, int partition) {
        return some(connection, stream, partition, 1).get(0);
    }

    /** States of all JetStream streams with subjects of the namespace, by their names. */
    public static TreeMap<String, PartitionState> ofNamespace(NatsConnection connection, String namespace) {
        TreeMap<String, PartitionState> found = new TreeMap<>();
        while (true) {
            JsonValue page = Patience.until(UnansweredException.class, () -> parsed(connection.await(connection.send(
                    LIST, "{\"subject\":\"" + namespace + ".>\",\"offset\":" + found.size() + "}"), LIST), LIST));
            List<JsonValue> streams = JsonValueUtils.readArray(page, "streams");
            for (JsonValue each : streams) {
                found.put(JsonValueUtils.readString(JsonValueUtils.readObject(each, "config"), "name"), stateIn(each));
            }
            if (streams.isEmpty() || found.size() >= JsonValueUtils.readLong(page, "total", 0)) {
                return found;
            }
        }
    }

    private static PartitionState stateIn(JsonValue info) {
        JsonValue state = JsonValueUtils.readObject(info, "state");
        return PartitionState.of(JsonValueUtils.readLong(state, "first_seq", 0),
                JsonValueUtils.readLong(state, "last_seq", 0), JsonValueUtils.readString(info, "created", ""));
    }

    private static List<Optional<PartitionState>> some(
            NatsConnection connection, EventStream stream, int from, int number) {
        return Patience.until(UnansweredException.class, () -> {
            List<CompletableFuture<Message>> answers = IntStream.range(from, from + number)
                    .mapToObj(partition -> connection.send(INFO + stream.partition(partition), "")).toList();
            return answers.stream().map(answer -> state(connection.await(answer, INFO + stream))).toList();
        });
    }

    private static Optional<PartitionState> state(Message answer) {
        try {
            return Optional.of(stateIn(parsed(answer, INFO)));
        } catch (ApiException failed) {
            if (failed.isNotFound()) {
                return Optional.empty();
            }
            throw failed;
        }
    }

    /**
     * @throws ApiException if the answer is an error
     * @throws UnansweredException if it is one that passes, as of a server that starts
     */
    static JsonValue parsed(Message answer, String what) {
        JsonValue value = JsonParser.parseUnchecked(answer.getData());
        JsonValue error = JsonValueUtils.readValue(value, "error");
        if (error != null && error.map != null) {
            if (JsonValueUtils.readInteger(error, "code", 0) == UNAVAILABLE) {
                throw new UnansweredException(
                        what + ": " + JsonValueUtils.readString(error, "description", "unavailable"), null);
            }
            throw new ApiException(what, JsonValueUtils.readInteger(error, "err_code", 0),
                    JsonValueUtils.readString(error, "description", "refused"));
        }
        return value;
    }

    private static List<PartitionState> requireAny(List<PartitionState> found, EventStream stream) {
        if (found.isEmpty()) {
            throw new NatsException("there is no stream " + stream + ": JetStream has no stream "
                    + stream.partition(0));
        }
        return found;
    }
}
