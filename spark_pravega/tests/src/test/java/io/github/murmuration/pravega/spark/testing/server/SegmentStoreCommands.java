// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.testing.server;

import io.github.murmuration.spark.testing.LogListener;
import io.pravega.client.connection.impl.RawClient;
import io.pravega.shared.protocol.netty.WireCommand;
import java.util.function.Consumer;
import org.apache.logging.log4j.Level;

/** Tells of the data source's own commands to segment stores before they go out, and of answers before it gets them. */
public final class SegmentStoreCommands extends LogListener {
    public SegmentStoreCommands(Consumer<WireCommand> observer) {
        super(RawClient.class, Level.DEBUG, Level.INFO, message -> {
            Object[] told = message.getParameters();
            if (told != null && told.length == 1 && told[0] instanceof WireCommand command) {
                observer.accept(command);
            }
        });
    }
}
