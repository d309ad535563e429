package io.github.murmuration.pravega.spark;

import java.util.function.BiConsumer;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;

/**
 * Tells of the steps of epochs as the data source logs them, in the thread that logs: there a test can end the process,
 * or fail in place of a server.
 */
final class LoggedSteps implements AutoCloseable {
    private static final String LOGGER = EpochStep.class.getName();

    private final LoggerContext context = LoggerContext.getContext(false);

    LoggedSteps(BiConsumer<EpochStep, EpochRecord> observer) {
        AbstractAppender appender = new AbstractAppender("steps", null, null, false, Property.EMPTY_ARRAY) {
            @Override
            public void append(LogEvent event) {
                Object[] told = event.getMessage().getParameters();
                observer.accept((EpochStep) told[2], (EpochRecord) told[3]);
            }
        };
        appender.start();
        LoggerConfig logger = new LoggerConfig(LOGGER, Level.DEBUG, false);
        logger.addAppender(appender, Level.DEBUG, null);
        context.getConfiguration().addLogger(LOGGER, logger);
        context.updateLoggers();
    }

    @Override
    public void close() {
        context.getConfiguration().removeLogger(LOGGER);
        context.updateLoggers();
    }
}
