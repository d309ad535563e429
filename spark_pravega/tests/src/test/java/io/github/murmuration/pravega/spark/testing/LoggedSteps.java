// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.testing;

import io.github.murmuration.pravega.spark.write.epoch.EpochRecord;
import io.github.murmuration.pravega.spark.write.epoch.EpochStep;
import io.github.murmuration.spark.testing.LogListener;
import java.util.function.BiConsumer;
import org.apache.logging.log4j.Level;

/** Tells of the steps of epochs as the data source logs them. */
public final class LoggedSteps extends LogListener {
    public LoggedSteps(BiConsumer<EpochStep, EpochRecord> observer) {
        this(Level.OFF, observer);
    }

    /** @param passedOn see {@link LogListener} */
    public LoggedSteps(Level passedOn, BiConsumer<EpochStep, EpochRecord> observer) {
        super(EpochStep.class, Level.DEBUG, passedOn, message -> observer.accept(
                (EpochStep) message.getParameters()[2], (EpochRecord) message.getParameters()[3]));
    }
}
