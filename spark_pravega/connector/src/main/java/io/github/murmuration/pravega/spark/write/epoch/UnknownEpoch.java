// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** What to do with an epoch, or a part of it, of which nobody can tell any more whether it is there. */
public enum UnknownEpoch {
    FAIL, WRITE, SKIP;

    /** @throws IllegalArgumentException naming the option and what it may be */
    public static UnknownEpoch parse(String option, String value) {
        return Arrays.stream(values()).filter(each -> each.name().equalsIgnoreCase(value)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("option " + option + " is " + value + ", it can be "
                        + Arrays.stream(values()).map(each -> each.name().toLowerCase(Locale.ROOT))
                                .collect(Collectors.joining(", "))));
    }
}
