// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import io.github.murmuration.pravega.spark.PravegaOptions;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.UUID;

/** What a batch write is known by when it is repeated: the number grows from one batch of an application to another. */
public record BatchVersion(String application, long number) {
    /** @throws IllegalArgumentException if one is missing or the number is none, or if nothing could come of them */
    public static Optional<BatchVersion> of(
            Optional<String> application, Optional<String> number, boolean exactlyOnce) {
        if (application.isPresent() != number.isPresent()) {
            throw new IllegalArgumentException(
                    "of " + PravegaOptions.TXN_APP_ID + " and " + PravegaOptions.TXN_VERSION + " one is missing");
        }
        if (application.isPresent() && !exactlyOnce) {
            throw new IllegalArgumentException(PravegaOptions.TXN_APP_ID + " and " + PravegaOptions.EXACTLY_ONCE
                    + "=false exclude each other: a repeated batch is known by its transactions");
        }
        return application.map(id -> new BatchVersion(id, parse(number.get())));
    }

    private static long parse(String number) {
        try {
            long parsed = Long.parseLong(number);
            if (parsed >= 0) {
                return parsed;
            }
        } catch (NumberFormatException notANumber) {
            // the same answer
        }
        throw new IllegalArgumentException("option " + PravegaOptions.TXN_VERSION + " is " + number
                + ", it must be a whole number from 0 on, such as the batch's number in foreachBatch");
    }

    /** Of the record of what a stream got; it is none of a query, whose ids are random. */
    UUID recordOf(String stream) {
        return UUID.nameUUIDFromBytes((stream + "/" + application).getBytes(StandardCharsets.UTF_8));
    }

    /** Whether a stream that has this record need not get the batch. */
    boolean isIn(EpochRecord last) {
        return last.epoch() > number || last.epoch() == number && last.committed();
    }
}
