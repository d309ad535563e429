// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.write;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Keys go where all writers of a stream put them. */
@Tag("core")
class PartitionOfKeyTest {
    /** From the root of the repository; other clients are tested with the same. */
    private static final Path VECTORS = Path.of("..", "..", "tests", "middleware", "partitions_of_keys.json");

    private static int partition(String key, int partitions) {
        return PartitionOfKey.of(key.getBytes(StandardCharsets.UTF_8), partitions);
    }

    /** The check value of CRC-32, 0xCBF43926, is that of the text 123456789. */
    @Test
    void thePartitionIsTheUnsignedChecksum() {
        assertEquals((int) (0xCBF43926L % 7), partition("123456789", 7));
        assertEquals(0, partition("", 5));
        assertEquals(0, partition("anything", 1));
    }

    @Test
    void thePartitionIsThatOfOtherWriters() throws Exception {
        assumeTrue(Files.exists(VECTORS));
        for (JsonNode vector : new ObjectMapper().readTree(VECTORS.toFile())) {
            String key = vector.get("key").asText().repeat(vector.path("repeat").asInt(1));
            assertEquals(vector.get("partition").asInt(), partition(key, vector.get("partitions").asInt()),
                    () -> vector.toString());
        }
    }
}
