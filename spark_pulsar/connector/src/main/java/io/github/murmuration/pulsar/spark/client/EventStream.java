// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.client;

import java.io.Serializable;
import java.util.regex.Pattern;

/**
 * A stream of events, which is a partitioned topic. Names consist of letters, digits and {@code - _ . = :}; with others
 * it is refused by an IllegalArgumentException.
 */
public record EventStream(String tenant, String namespace, String name) implements Serializable {
    private static final Pattern NAME = Pattern.compile("[-=:.\\w]+");

    public EventStream {
        requireName(tenant);
        requireName(namespace);
        requireName(name);
    }

    /** The topic that holds a partition. */
    public String topic(int partition) {
        return "persistent://" + tenant + "/" + namespace + "/" + name + "-partition-" + partition;
    }

    /** Of the stream, in the broker's administration. */
    String path() {
        return "persistent/" + tenant + "/" + namespace + "/" + name;
    }

    String path(int partition) {
        return path() + "-partition-" + partition;
    }

    @Override
    public String toString() {
        return tenant + "/" + namespace + "/" + name;
    }

    private static void requireName(String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("names of tenants, namespaces and streams consist of letters, digits "
                    + "and - _ . = :, unlike \"" + name + "\"");
        }
    }
}
