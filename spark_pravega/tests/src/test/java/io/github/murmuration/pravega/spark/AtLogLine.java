package io.github.murmuration.pravega.spark;

import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.logging.log4j.Level;

/** Does something, once, where a class logs a line that begins so. */
final class AtLogLine extends LogListener {
    private final AtomicBoolean logged;

    AtLogLine(Class<?> logging, String beginning, Runnable action) {
        this(logging, beginning, action, new AtomicBoolean());
    }

    private AtLogLine(Class<?> logging, String beginning, Runnable action, AtomicBoolean logged) {
        super(logging, Level.INFO, Level.INFO, message -> {
            if (message.getFormattedMessage().startsWith(beginning) && !logged.getAndSet(true)) {
                action.run();
            }
        });
        this.logged = logged;
    }

    boolean wasLogged() {
        return logged.get();
    }
}
