// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.testing;

import org.apache.spark.sql.SparkSession;

/** A small Spark on this machine that no one else can reach. */
public final class LocalSpark {
    private LocalSpark() {
    }

    /** Of the tests; for processes of their own. */
    public static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    public static SparkSession create() {
        return create("local[2,2]"); // two threads, two attempts per task
    }

    public static SparkSession create(String master) {
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
