// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.plan;

import io.pravega.client.stream.StreamCut;
import java.util.Locale;

/** Where a read starts or ends: a symbolic end of the stream, or a stream cut in Pravega's text form. */
public record StreamBound(String text) {
    public static final StreamBound EARLIEST = new StreamBound("earliest");
    public static final StreamBound LATEST = new StreamBound("latest");
    public static final StreamBound UNBOUNDED = new StreamBound("unbounded");

    /** @throws IllegalArgumentException naming {@code option} if {@code value} is neither a bound nor a stream cut */
    public static StreamBound parse(String option, String value) {
        return switch (value.toLowerCase(Locale.ROOT)) {
            case "earliest" -> EARLIEST;
            case "latest" -> LATEST;
            case "unbounded" -> UNBOUNDED;
            default -> {
                try {
                    StreamCut.from(value);
                } catch (RuntimeException invalid) {
                    throw new IllegalArgumentException("option " + option
                            + " is neither earliest, latest, unbounded nor a stream cut: " + value, invalid);
                }
                yield new StreamBound(value);
            }
        };
    }

    public boolean isCut() {
        return this != EARLIEST && this != LATEST && this != UNBOUNDED;
    }

    public StreamCut cut() {
        return StreamCut.from(text);
    }
}
