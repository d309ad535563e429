// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.PravegaOptions;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What to do with an epoch, or a part of it, of which nobody can tell any more whether it is there. */
public enum UnknownEpoch {
    FAIL, WRITE, SKIP;

    private static final Logger LOG = LoggerFactory.getLogger(UnknownEpoch.class);

    /**
     * {@link #WRITE} or {@link #SKIP}, which is told in the log, since rows may be there twice or be missing by that.
     *
     * @throws PravegaException if neither was asked for
     */
    public UnknownEpoch decide(long epoch, String why) {
        if (this == FAIL) {
            throw PravegaException.unknownEpoch(epoch, why);
        }
        LOG.warn("It cannot be known whether epoch {} was written: {}. As {} is {}, what may not be there is {}",
                epoch, why, PravegaOptions.ON_UNKNOWN_EPOCH, name().toLowerCase(Locale.ROOT),
                this == WRITE ? "written, perhaps for the second time" : "left out");
        return this;
    }

    /** @throws IllegalArgumentException naming the option and what it may be */
    public static UnknownEpoch parse(String option, String value) {
        return Arrays.stream(values()).filter(each -> each.name().equalsIgnoreCase(value)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("option " + option + " is " + value + ", it can be "
                        + Arrays.stream(values()).map(each -> each.name().toLowerCase(Locale.ROOT))
                                .collect(Collectors.joining(", "))));
    }
}
