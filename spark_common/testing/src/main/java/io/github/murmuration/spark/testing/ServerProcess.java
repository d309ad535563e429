// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A server of the tests with a folder of its own. It ends with the thread that has started it, even if that JVM is
 * killed.
 */
public final class ServerProcess implements AutoCloseable {
    private static final long LOOK_MS = 50;

    private final Path folder;
    private final List<String> command;
    private Process process;

    /** @param folder gets its log; what it holds beside stays as it is */
    public ServerProcess(Path folder, List<String> command) {
        this.folder = folder;
        this.command = List.copyOf(command);
    }

    /** Whether a server is ready. */
    @FunctionalInterface
    public interface Probe {
        /** @throws IOException if it is not */
        void ask() throws IOException, InterruptedException;
    }

    public void start(Duration limit, Probe ready) {
        List<String> bound = new ArrayList<>(List.of("setpriv", "--pdeathsig", "KILL"));
        bound.addAll(command);
        try {
            process = new ProcessBuilder(bound).redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile())).start();
            await(limit, ready);
        } catch (IOException | InterruptedException failed) {
            throw new IllegalStateException(failed);
        }
    }

    private void await(Duration limit, Probe ready) throws IOException, InterruptedException {
        long until = System.nanoTime() + limit.toNanos();
        while (true) {
            try {
                ready.ask();
                return;
            } catch (IOException notYet) {
                if (!process.isAlive() || System.nanoTime() > until) {
                    kill();
                    throw new IllegalStateException("the server is not ready: " + Files.readString(log()), notYet);
                }
                Thread.sleep(LOOK_MS);
            }
        }
    }

    public void kill() {
        try {
            process.destroyForcibly().waitFor();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    @Override
    public void close() {
        if (process != null) {
            kill();
        }
    }

    private Path log() {
        return folder.resolve("server.log");
    }

    /** @throws IOException if nothing listens there */
    public static void requireListening(int port) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
        }
    }

    /** Ports of this machine that are free now, all different. */
    public static int[] freePorts(int number) {
        List<ServerSocket> sockets = new ArrayList<>();
        try {
            while (sockets.size() < number) {
                sockets.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
            }
            return sockets.stream().mapToInt(ServerSocket::getLocalPort).toArray();
        } catch (IOException failed) {
            throw new IllegalStateException(failed);
        } finally {
            for (ServerSocket socket : sockets) {
                try {
                    socket.close();
                } catch (IOException ignored) {
                    // It is gone with this JVM.
                }
            }
        }
    }

    /** Removes a folder and all that is in it. */
    public static void delete(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }
}
