// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.read;

import io.github.murmuration.pulsar.spark.PulsarException;
import java.io.Serializable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What follows when events that were to be read are gone: an error, or a warning with the same words. */
record DataLoss(boolean fails) implements Serializable {
    static final String SIGN = "PULSAR_DATA_LOSS";
    private static final Logger LOG = LoggerFactory.getLogger(DataLoss.class);

    /** Retention or a cut has removed {@code wanted} and what follows, up to {@code found}. */
    void gone(String topic, long wanted, long found, long entries, boolean certain) {
        happened(topic, wanted, "found " + found + ": " + (certain ? "" : "at least ") + entries
                + " entries (published batches of events) are gone, by retention or deletion");
    }

    void createdAnew(String stream) {
        happened(stream + " was deleted and created anew: what was not read of the old stream is gone");
    }

    /** A partition ends before the event that comes next. */
    void replaced(String topic, long wanted, long end) {
        happened(topic, wanted, "found the partition's end at " + end
                + ": at least 1 entry is gone; it was created anew or restored from an older state");
    }

    void missing(String topic, long wanted) {
        happened(topic, wanted, "found no such topic: all its events are gone");
    }

    private void happened(String topic, long wanted, String what) {
        happened("in " + topic + " wanted offset " + wanted + ", " + what);
    }

    private void happened(String what) {
        String text = SIGN + ": " + what;
        if (fails) {
            throw new PulsarException(
                    text + ". With the option fail_on_data_loss=false the query goes on without them");
        }
        LOG.warn(text);
    }
}
