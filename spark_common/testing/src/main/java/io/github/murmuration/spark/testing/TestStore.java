// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.testing;

import java.util.Map;

/** A real server with streams, and a client that stands beside the data source. */
public interface TestStore {
    /** Name of the data source. */
    String format();

    /** The options that tell where the streams are. */
    Map<String, String> where();

    /** Of the first event of a partition. */
    long firstOffset();

    /** A new stream with a name of its own. */
    String stream(int partitions);

    /** Deletes a stream and creates one of the same name. */
    void createAnew(String stream, int partitions);

    /** As another client publishes; {@code key} may be null. */
    void publish(String stream, int partition, String key, byte[] event);

    /** Events of these numbers. */
    void publish(String stream, int partition, int from, int until);
}
