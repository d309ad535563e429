// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.testing;

import java.io.StringWriter;
import java.util.Map;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.Appender;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.WriterAppender;
import org.apache.logging.log4j.core.config.Configuration;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.layout.PatternLayout;

/**
 * What Spark, the data source and Pravega's client log while it is open; the latter two at every level. Not what their
 * libraries log below INFO: there gRPC dumps what it sends.
 */
public final class CapturedLog implements AutoCloseable {
    private static final Map<String, Level> LEVELS = Map.of(
            "org.apache.spark", Level.INFO,
            "io.pravega", Level.TRACE,
            "io.github.murmuration.pravega.spark", Level.TRACE,
            "io.github.murmuration.pravega.shaded", Level.INFO);

    private final StringWriter text = new StringWriter();
    private final LoggerContext context = LoggerContext.getContext(false);

    public CapturedLog() {
        Configuration configuration = context.getConfiguration();
        PatternLayout layout = PatternLayout.newBuilder().withPattern("%p %c %m%n%throwable").build();
        Appender appender = WriterAppender.createAppender(layout, null, text, "captured", false, false);
        appender.start();
        LEVELS.forEach((name, level) -> {
            LoggerConfig logger = new LoggerConfig(name, level, false);
            logger.addAppender(appender, level, null);
            configuration.addLogger(name, logger);
        });
        context.updateLoggers();
    }

    public String text() {
        synchronized (text.getBuffer()) {
            return text.toString();
        }
    }

    @Override
    public void close() {
        context.reconfigure();
    }
}
