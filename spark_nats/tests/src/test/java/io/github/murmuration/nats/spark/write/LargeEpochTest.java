// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import static io.github.murmuration.nats.spark.testing.NatsStore.nats;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.github.murmuration.nats.spark.testing.SparkTest;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An epoch that takes many atomic batches. */
class LargeEpochTest extends SparkTest {
    @TempDir
    Path folder;

    @Test
    void aHundredThousandRows() throws Exception {
        isCopied(100_000);
    }

    @Test
    @Tag("long")
    void halfAMillionRows() throws Exception {
        isCopied(500_000);
    }

    private void isCopied(int rows) throws Exception {
        String source = nats().stream(2);
        String target = nats().stream(4);
        writer(spark().range(0, rows, 1, 2).selectExpr("string(id) AS event"), source).save();
        long before = System.nanoTime();
        run(copy(readStream(source).load().select("event"), target, folder));
        assertFalse(Files.exists(folder.resolve("commits/1")), "it was more than one epoch");
        System.out.println(rows + " rows in " + (System.nanoTime() - before) / 1_000_000 + " ms");
        assertEquals(rows, read(target).count());
        assertEquals(rows, read(target).select("event").distinct().count());
    }
}
