// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.client;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.murmuration.pulsar.spark.PulsarException;
import java.net.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** What the broker tells of streams and their partitions. */
public final class Streams {
    private static final String BATCH = "X-Pulsar-num-batch-message";

    private final Administration administration;

    Streams(Administration administration) {
        this.administration = administration;
    }

    /** @throws PulsarException if there is no such stream */
    public Described describe(EventStream stream) {
        Described found;
        try {
            found = Described.of(administration.get(stream.path() + "/partitions"));
        } catch (RefusedException refused) {
            if (!refused.isNotFound()) {
                throw refused;
            }
            found = new Described("", List.of(), List.of());
        }
        if (found.partitions() == 0) {
            throw new PulsarException("there is no stream " + stream + ": Pulsar has no such partitioned topic, or "
                    + "one without the property origin.0");
        }
        return found;
    }

    /** Behind the last event of a partition that there ever was; of a topic that is gone nothing. */
    public Optional<Place> end(EventStream stream, int partition) {
        return found(stream.path(partition) + "/lastMessageId").map(last -> {
            long entry = last.path("entryId").asLong();
            long ledger = last.path("ledgerId").asLong();
            return entry < 0 ? new Place(ledger, 0, 0)
                    : new Place(ledger, entry, Math.max(0, last.path("batchIndex").asInt(-1)) + 1);
        });
    }

    /** Of a topic that is gone nothing. */
    public Optional<Ledgers> ledgers(EventStream stream, int partition) {
        return found(stream.path(partition) + "/internalStats").map(Ledgers::of)
                .filter(ledgers -> !ledgers.listed().isEmpty());
    }

    /** How many events entries have on average, by some of them; as many as there may be if none is answered for. */
    public double eventsPerEntry(EventStream stream, int partition, List<Place> entries) {
        List<CompletableFuture<Optional<HttpHeaders>>> answers = new ArrayList<>();
        for (Place each : entries) {
            answers.add(administration.head(
                    stream.path(partition) + "/ledger/" + each.ledger() + "/entry/" + each.entry()));
        }
        return answers.stream().map(CompletableFuture::join).flatMap(Optional::stream)
                .mapToLong(Streams::events).average().orElse(Place.MOST_INDEXED);
    }

    /** Of an entry, by what is told of it: one without the header was not published as a batch. */
    private static long events(HttpHeaders entry) {
        return entry.firstValue(BATCH).map(Long::parseLong).orElse(1L);
    }

    private Optional<JsonNode> found(String path) {
        try {
            return Optional.of(administration.get(path));
        } catch (RefusedException refused) {
            if (refused.isNotFound()) {
                return Optional.empty();
            }
            throw refused;
        }
    }
}
