// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.PravegaOptions;
import java.util.UUID;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.RealTimeTrigger;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution;

/** Spark tells sources that a query runs in Real-Time Mode; sinks have to find out. */
final class RealTimeQuery {
    private RealTimeQuery() {
    }

    static boolean is(String queryId) {
        StreamExecution query =
                SparkSession.active().sharedState().activeStreamingQueries().get(UUID.fromString(queryId));
        return query != null && query.trigger() instanceof RealTimeTrigger;
    }

    static PravegaException notExactlyOnce() {
        return new PravegaException("a real-time query cannot write exactly once: Spark logs what a batch has read "
                + "only after the batch is written, so one that is repeated may hold other rows. Set the option "
                + PravegaOptions.EXACTLY_ONCE + "=false of the sink, or take another trigger");
    }
}
