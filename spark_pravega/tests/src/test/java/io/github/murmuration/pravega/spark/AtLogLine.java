package io.github.murmuration.pravega.spark;

import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;

/** Does something, once, where a class logs a line that begins so: in the thread that logs. */
final class AtLogLine implements AutoCloseable {
    private final LoggerContext context = LoggerContext.getContext(false);
    private final String logger;
    private boolean logged;

    AtLogLine(Class<?> logging, String beginning, Runnable action) {
        logger = logging.getName();
        AbstractAppender appender = new AbstractAppender("line", null, null, false, Property.EMPTY_ARRAY) {
            @Override
            public void append(LogEvent event) {
                if (!logged && event.getMessage().getFormattedMessage().startsWith(beginning)) {
                    logged = true;
                    action.run();
                }
            }
        };
        appender.start();
        LoggerConfig config = new LoggerConfig(logger, Level.INFO, true);
        config.addAppender(appender, Level.INFO, null);
        context.getConfiguration().addLogger(logger, config);
        context.updateLoggers();
    }

    boolean wasLogged() {
        return logged;
    }

    @Override
    public void close() {
        context.getConfiguration().removeLogger(logger);
        context.updateLoggers();
    }
}
