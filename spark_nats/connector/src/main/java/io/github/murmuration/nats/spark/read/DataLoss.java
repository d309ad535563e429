// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.read;

import io.github.murmuration.nats.spark.NatsException;
import java.io.Serializable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What follows when events that were to be read are gone: an error, or a warning with the same words. */
record DataLoss(boolean fails) implements Serializable {
    private static final Logger LOG = LoggerFactory.getLogger(DataLoss.class);

    /** Retention, a purge or a deletion has removed {@code wanted} and what follows, up to {@code found}. */
    void gone(String partition, long wanted, long found) {
        happened(partition, wanted, "found " + found + ": " + (found - wanted)
                + " events are gone, by retention, purge or deletion");
    }

    void createdAnew(String stream) {
        happened(stream + " was deleted and created anew: what was not read of the old stream is gone");
    }

    /** A stream ends before the event that comes next. */
    void replaced(String partition, long wanted, long end) {
        happened(partition, wanted, "found the stream's end at " + end + ": at least " + (wanted - end)
                + " events are gone; it was created anew or restored from an older state");
    }

    void missing(String partition, long wanted) {
        happened(partition, wanted, "found no such stream: all its events are gone");
    }

    private void happened(String partition, long wanted, String what) {
        happened("in " + partition + " wanted sequence " + wanted + ", " + what);
    }

    private void happened(String what) {
        String text = "NATS_DATA_LOSS: " + what;
        if (fails) {
            throw new NatsException(text + ". With the option fail_on_data_loss=false the query goes on without them");
        }
        LOG.warn(text);
    }
}
