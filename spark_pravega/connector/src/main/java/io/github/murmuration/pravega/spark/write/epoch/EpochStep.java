// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The points between which a crash of the driver leaves different things behind. Each is logged, at DEBUG. */
public enum EpochStep {
    /** All tasks are done; nothing is recorded or appended. */
    WRITTEN,
    /** It is durable which transactions make up the epoch; none is committed. */
    RECORDED,
    /** All are committed, which may not be recorded yet; Spark has not logged the epoch. */
    COMMITTED,
    /** The epoch is in its segment; Spark has not logged it. */
    APPENDED;

    private static final Logger LOG = LoggerFactory.getLogger(EpochStep.class);

    public void reached(UUID query, EpochRecord record) {
        LOG.debug("Epoch {} of query {} is {}: {}", record.epoch(), query, this, record);
    }
}
