// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.testing.server;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** How a Pravega server protects itself; by default it does not. */
interface ServerSecurity {
    ServerSecurity NONE = new ServerSecurity() { };

    /** Writes what the settings name into the folder of the server, before that starts. */
    default void write(Path dir) throws IOException, InterruptedException {
    }

    default String scheme() {
        return "tcp://";
    }

    /** Lines {@code name=value}. */
    default String controllerSettings(Path dir) {
        return "";
    }

    /** Lines {@code name=value}. */
    default String segmentStoreSettings(Path dir) {
        return "";
    }

    /** Options of its JVM. */
    default List<String> segmentStoreCredentials() {
        return List.of();
    }
}
