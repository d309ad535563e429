// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.testing;

import java.util.function.Consumer;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;
import org.apache.logging.log4j.message.Message;

/** Tells what a class logs, in the thread that logs: there a test can end the process, or fail in place of a server. */
public class LogListener implements AutoCloseable {
    private final LoggerContext context = LoggerContext.getContext(false);
    private final String logger;

    /** @param passesOn whether the lines go where they would without it, too */
    protected LogListener(Class<?> logging, Level level, boolean passesOn, Consumer<Message> listener) {
        logger = logging.getName();
        AbstractAppender appender = new AbstractAppender(logger, null, null, false, Property.EMPTY_ARRAY) {
            @Override
            public void append(LogEvent event) {
                listener.accept(event.getMessage());
            }
        };
        appender.start();
        LoggerConfig config = new LoggerConfig(logger, level, passesOn);
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
