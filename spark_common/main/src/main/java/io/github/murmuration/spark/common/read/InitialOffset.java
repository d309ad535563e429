// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.read;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;

/**
 * The offset at which a query began, in the file {@code initial-offset} of the source's folder in the checkpoint: Spark
 * asks for it again when the query comes back before its first batch is logged, and {@code latest} must not move
 * meanwhile.
 *
 * @param parsed reads an offset's JSON
 * @param <O> the source's offsets
 */
public record InitialOffset<O extends Offset>(String checkpointLocation, Function<String, O> parsed) {
    private static final String FILE = "initial-offset";

    public O readOrCreate(Supplier<O> first) {
        try {
            Configuration hadoop = SparkSession.active().sessionState().newHadoopConf();
            Path folder = new Path(checkpointLocation);
            CheckpointFileManager files = CheckpointFileManager.create(folder, hadoop);
            Path file = new Path(folder, FILE);
            try (FSDataInputStream stored = files.open(file)) {
                return parsed.apply(new String(stored.readAllBytes(), StandardCharsets.UTF_8));
            } catch (FileNotFoundException absent) {
                O offset = first.get();
                files.mkdirs(folder);
                write(files, file, offset);
                return offset;
            }
        } catch (IOException failed) {
            throw new UncheckedIOException("initial offset in " + checkpointLocation, failed);
        }
    }

    private static void write(CheckpointFileManager files, Path file, Offset offset) throws IOException {
        CheckpointFileManager.CancellableFSDataOutputStream out = files.createAtomic(file, false);
        try {
            out.write(offset.json().getBytes(StandardCharsets.UTF_8));
            out.close();
        } catch (IOException | RuntimeException failed) {
            out.cancel();
            throw failed;
        }
    }
}
