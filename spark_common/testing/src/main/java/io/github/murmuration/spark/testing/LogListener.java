// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.testing;

import java.util.function.Consumer;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;
import org.apache.logging.log4j.message.Message;

/** Tells what a class logs, in the thread that logs: there a test can end the process, or stand in for a server. */
public class LogListener implements AutoCloseable {
    private final LoggerContext context = LoggerContext.getContext(false);
    private final String logger;

    /** @param passedOn from which level on lines go where they would without it, too, and there first */
    public LogListener(Class<?> logging, Level level, Level passedOn, Consumer<Message> listener) {
        logger = logging.getName();
        AbstractAppender appender = new AbstractAppender(logger, null, null, false, Property.EMPTY_ARRAY) {
            @Override
            public void append(LogEvent event) {
                listener.accept(event.getMessage());
            }
        };
        appender.start();
        LoggerConfig config = new LoggerConfig(logger, level, false);
        context.getConfiguration().getRootLogger().getAppenders().values()
                .forEach(each -> config.addAppender(each, passedOn, null));
        config.addAppender(appender, level, null);
        context.getConfiguration().addLogger(logger, config);
        context.updateLoggers();
    }

    @Override
    public void close() {
        context.getConfiguration().removeLogger(logger);
        context.updateLoggers();
    }
}
