// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

import java.io.Serializable;
import java.util.regex.Pattern;

/**
 * A stream of events, which is one JetStream stream for each of its partitions.
 *
 * @throws IllegalArgumentException if a name holds anything but letters, digits and {@code -}
 */
public record EventStream(String namespace, String name) implements Serializable {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9-]+");

    public EventStream {
        requireName(namespace);
        requireName(name);
    }

    /** The JetStream stream that holds a partition. */
    public String partition(int partition) {
        return namespace + "_" + name + "_" + partition;
    }

    /** The subject on which {@code writer}, one or more tokens, publishes to a partition. */
    public String subject(int partition, String writer) {
        return namespace + "." + name + "." + partition + "." + writer;
    }

    @Override
    public String toString() {
        return namespace + "/" + name;
    }

    private static void requireName(String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "names of namespaces and streams consist of letters, digits and -, unlike \"" + name + "\"");
        }
    }
}
