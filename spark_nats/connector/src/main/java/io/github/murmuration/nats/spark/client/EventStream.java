// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

import java.io.Serializable;
import java.util.regex.Pattern;

/**
 * A stream of events, which is one JetStream stream for each of its partitions. Names consist of letters, digits and
 * {@code -}, a namespace also of {@code _}; with others it is refused by an IllegalArgumentException.
 */
public record EventStream(String namespace, String name) implements Serializable {
    private static final Pattern NAMESPACE = Pattern.compile("[A-Za-z0-9_-]+");
    /** Without {@code _}, so that no two streams have the same names in JetStream. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9-]+");

    public EventStream {
        require(NAMESPACE, namespace, "a namespace consists of letters, digits, - and _");
        require(NAME, name, "the name of a stream consists of letters, digits and -");
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

    private static void require(Pattern pattern, String name, String rule) {
        if (!pattern.matcher(name).matches()) {
            throw new IllegalArgumentException(rule + ", unlike \"" + name + "\"");
        }
    }
}
