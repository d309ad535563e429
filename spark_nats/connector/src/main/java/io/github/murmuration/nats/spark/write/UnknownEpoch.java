// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import io.github.murmuration.nats.spark.NatsException;
import io.github.murmuration.nats.spark.NatsOptions;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What to do with an epoch of which nobody can tell any more whether, or what of it, was written. */
public enum UnknownEpoch {
    FAIL, WRITE, SKIP;

    private static final Logger LOG = LoggerFactory.getLogger(UnknownEpoch.class);

    /** @throws NatsException if it is to fail */
    UnknownEpoch decide(long epoch, String why) {
        String text = "It cannot be known whether epoch " + epoch + " was written: " + why;
        if (this == FAIL) {
            throw new NatsException(text + ". With the option " + NatsOptions.ON_UNKNOWN_EPOCH
                    + "=write it is written, perhaps for the second time; with skip it is left out, perhaps lost");
        }
        LOG.warn("{}. As {}={} asks", text, NatsOptions.ON_UNKNOWN_EPOCH, name().toLowerCase(Locale.ROOT));
        return this;
    }
}
