// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.testing;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A driver as a process of its own. It ends with the thread that has started it, even if that JVM is killed. */
public final class DriverProcess implements AutoCloseable {
    public static final int KILLED = 128 + 9;
    /** System properties that it gets, too. */
    private static final Pattern OF_TESTS = Pattern.compile("(?!surefire)\\w+\\.test\\..+");

    private final Process process;
    private final Path log;

    /** @param log gets all that it prints */
    public DriverProcess(Path log, String classPath, Class<?> main, Object... arguments) throws IOException {
        this.log = log;
        process = start(Redirect.to(log.toFile()), classPath, main, arguments);
    }

    /** The process alone. */
    public static Process start(Redirect log, String classPath, Class<?> main, Object... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("setpriv", "--pdeathsig", "KILL",
                ProcessHandle.current().info().command().orElse("java"), "-Xmx512m", "-XX:TieredStopAtLevel=1"));
        System.getProperties().stringPropertyNames().stream().filter(name -> OF_TESTS.matcher(name).matches())
                .forEach(name -> command.add("-D" + name + "=" + System.getProperty(name)));
        command.addAll(List.of(System.getProperty("spark.opens").trim().split("\\s+")));
        command.add(main.getName());
        Stream.of(arguments).map(Object::toString).forEach(command::add);
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log);
        builder.environment().put("CLASSPATH", classPath);
        return builder.start();
    }

    /** How SIGKILL ends the process that calls it. */
    public static void killThisOne() {
        signal(ProcessHandle.current(), "KILL");
        while (true) {
            LockSupport.park();
        }
    }

    /** @param name of the signal, as STOP or CONT */
    public static void signal(ProcessHandle process, String name) {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
        } catch (IOException | InterruptedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Waits for its end; its exit status. */
    public int ended(Duration limit) throws InterruptedException {
        if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException("the driver has not ended after " + limit + ", see " + log);
        }
        return process.exitValue();
    }

    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    public ProcessHandle handle() {
        return process.toHandle();
    }

    /** Those of its executors that are processes, the oldest first. */
    public List<ProcessHandle> executors() {
        return process.toHandle().children().filter(DriverProcess::isExecutor)
                .sorted(Comparator.comparing(ProcessHandle::pid)).toList();
    }

    /** Lets the JVM print into its log what its threads do. */
    public void printThreads() throws InterruptedException {
        signal(handle(), "QUIT");
        Thread.sleep(1000);
    }

    public List<String> log() throws IOException {
        return Files.readAllLines(log);
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    /** {@link ProcessHandle#info} does not tell a command line as long as this. */
    private static boolean isExecutor(ProcessHandle child) {
        try {
            return Files.readString(Path.of("/proc/" + child.pid() + "/cmdline"))
                    .contains("CoarseGrainedExecutorBackend");
        } catch (IOException ended) {
            return false;
        }
    }
}
