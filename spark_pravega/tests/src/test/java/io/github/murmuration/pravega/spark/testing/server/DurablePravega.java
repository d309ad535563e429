// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.testing.server;

import io.github.murmuration.spark.testing.DriverProcess;
import io.pravega.client.ClientConfig;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** The Pravega that the tests share, started once per JVM. */
public final class DurablePravega implements BeforeAllCallback, ExtensionContext.Store.CloseableResource {
    public static final String SCOPE = "test";
    public static final int PORT = Integer.getInteger("pravega.test.port");
    public static final Path DIR = Path.of(System.getProperty("pravega.test.dir"));

    private static PravegaServer server;

    public static String controllerUri() {
        return "tcp://" + PravegaServer.controllerAddress(PORT);
    }

    /** Nothing becomes durable from now on, until it gets the signal CONT. */
    public static ProcessHandle stoppedBookie() {
        ProcessHandle bookie = server.bookie();
        DriverProcess.signal(bookie, "STOP");
        return bookie;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        context.getRoot().getStore(ExtensionContext.Namespace.GLOBAL)
                .getOrComputeIfAbsent(DurablePravega.class, ignored -> started(), DurablePravega.class);
    }

    @Override
    public void close() {
        server.close();
    }

    private static DurablePravega started() {
        DurablePravega pravega = new DurablePravega();
        ClientConfig client = ClientConfig.builder().controllerURI(URI.create(controllerUri())).build();
        server = new PravegaServer(PORT, DIR, ServerSecurity.NONE).started(client, SCOPE);
        return pravega;
    }
}
