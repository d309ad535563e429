package io.github.murmuration.pravega.spark;

import java.util.function.BiConsumer;
import org.apache.logging.log4j.Level;

/** Tells of the steps of epochs as the data source logs them. */
final class LoggedSteps extends LogListener {
    LoggedSteps(BiConsumer<EpochStep, EpochRecord> observer) {
        this(Level.OFF, observer);
    }

    /** @param passedOn see {@link LogListener} */
    LoggedSteps(Level passedOn, BiConsumer<EpochStep, EpochRecord> observer) {
        super(EpochStep.class, Level.DEBUG, passedOn, message -> observer.accept(
                (EpochStep) message.getParameters()[2], (EpochRecord) message.getParameters()[3]));
    }
}
