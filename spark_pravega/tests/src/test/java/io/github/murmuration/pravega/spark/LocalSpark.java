package io.github.murmuration.pravega.spark;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.SparkSession;

/** A small Spark on this machine that no one else can reach. */
final class LocalSpark {
    private LocalSpark() {
    }

    /** Of the tests; for processes of their own. */
    static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    /** A driver as a process of its own, which the arguments tell what to do. */
    static Process driver(Class<?> main, File log, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElse("java"),
                "-Xmx512m", "-XX:TieredStopAtLevel=1",
                "-Dpravega.test.port=" + System.getProperty("pravega.test.port"),
                "-Dpravega.test.jars=" + System.getProperty("pravega.test.jars"),
                "-Dpravega.test.dir=" + System.getProperty("pravega.test.dir")));
        command.addAll(List.of(System.getProperty("spark.opens").trim().split("\\s+")));
        command.add(main.getName());
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.appendTo(log));
        builder.environment().put("CLASSPATH", classPath());
        return builder.start();
    }

    static SparkSession create() {
        return create("local[2,2]"); // two threads, two attempts per task
    }

    static SparkSession create(String master) {
        return SparkSession.builder()
                .master(master)
                .config("spark.ui.enabled", "false")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.sql.shuffle.partitions", "2")
                .config("spark.sql.warehouse.dir", "target/warehouse")
                .getOrCreate();
    }
}
