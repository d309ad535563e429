// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.write;

import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;

/** Streams of a store that rows are to be appended to, as its connector knows them. */
public interface EventSink {
    String description();

    BatchWrite batch();

    StreamingWrite streaming();
}
