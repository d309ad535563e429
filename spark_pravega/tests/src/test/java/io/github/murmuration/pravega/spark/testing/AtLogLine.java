// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.testing;

import io.github.murmuration.spark.testing.LogListener;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.logging.log4j.Level;

/** Does something, once, where a class logs a line that begins so. */
public final class AtLogLine extends LogListener {
    private final AtomicBoolean logged;

    public AtLogLine(Class<?> logging, String beginning, Runnable action) {
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

    public boolean wasLogged() {
        return logged.get();
    }
}
