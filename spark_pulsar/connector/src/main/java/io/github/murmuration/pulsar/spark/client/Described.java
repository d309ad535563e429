// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/**
 * A stream by the properties of its topic.
 *
 * @param life what tells it from a later one of its name: its own property, or the origin of its first partition
 * @param origins one for each partition
 * @param cuts offsets before which nothing is read any more; 0 where there is none
 */
public record Described(String life, List<Origin> origins, List<Long> cuts) {
    /** Of a topic that has none of ours nothing; a partition without an origin is none yet. */
    static Described of(JsonNode metadata) {
        JsonNode properties = metadata.path("properties");
        List<Origin> origins = new ArrayList<>();
        List<Long> cuts = new ArrayList<>();
        for (int partition = 0; partition < metadata.path("partitions").asInt(); partition++) {
            JsonNode origin = properties.path("origin." + partition);
            if (origin.isMissingNode()) {
                break;
            }
            origins.add(Origin.of(origin.asText()));
            cuts.add(Long.parseLong(properties.path("cut." + partition).asText("0")));
        }
        String life = origins.isEmpty() ? "" : origins.get(0).toString();
        return new Described(properties.path("life").asText(life), List.copyOf(origins), List.copyOf(cuts));
    }

    public int partitions() {
        return origins.size();
    }
}
