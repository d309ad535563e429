// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.write;

import java.io.Serializable;

/** How the tasks of an epoch go about it. */
record EpochPlan(String query, EpochRecord record, Kind kind) implements Serializable {
    enum Kind {
        /** Nothing of the epoch was written before. */
        NEW,
        /** All, a part or nothing of it may be there. */
        AGAIN,
        /** It is written whatever is there. */
        FORCED,
        /** It is not written. */
        SKIPPED
    }

    long epoch() {
        return record.epoch();
    }
}
