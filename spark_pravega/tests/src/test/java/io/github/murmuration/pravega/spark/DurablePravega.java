package io.github.murmuration.pravega.spark;

import io.pravega.client.ClientConfig;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** The Pravega that the tests share, started once per JVM. */
final class DurablePravega implements BeforeAllCallback, ExtensionContext.Store.CloseableResource {
    static final String SCOPE = "test";
    static final int PORT = Integer.getInteger("pravega.test.port");
    static final Path DIR = Path.of(System.getProperty("pravega.test.dir"));

    private static PravegaServer server;

    static String controllerUri() {
        return "tcp://" + PravegaServer.controllerAddress(PORT);
    }

    /** Nothing becomes durable from now on, until it gets the signal CONT. */
    static ProcessHandle stoppedBookie() {
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
