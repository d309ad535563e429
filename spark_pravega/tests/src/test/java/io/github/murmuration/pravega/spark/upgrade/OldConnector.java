// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.upgrade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.murmuration.pravega.spark.PravegaTableProvider;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.github.murmuration.spark.testing.LocalSpark;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/** The data source as it was in an earlier commit of this repository, from which it is built. */
final class OldConnector {
    private static final String COMMIT = "1d09bff";
    private static final String MODULE = "spark_pravega";
    private static final Path JAR = Path.of(MODULE, "target", "pravega-connectors-spark-4.1_2.13.jar");

    private record Outcome(int status, String output) {
    }

    private OldConnector() {
    }

    /** The class path of the tests with the old jar in the place of today's. Without the commit the test is skipped. */
    static String classPath() throws Exception {
        Path today = Path.of(PravegaTableProvider.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        String jar = jar().toString();
        List<String> entries = new ArrayList<>();
        for (String entry : LocalSpark.classPath().split(File.pathSeparator)) {
            boolean isToday = Files.exists(Path.of(entry)) && Files.isSameFile(Path.of(entry), today);
            entries.add(isToday ? jar : entry);
        }
        assertTrue(entries.contains(jar), () -> today + " is not on the class path by its name");
        return String.join(File.pathSeparator, entries);
    }

    private static Path jar() throws Exception {
        Path jar = DurablePravega.DIR.resolveSibling("connector-" + COMMIT + ".jar");
        if (!Files.exists(jar)) {
            Path sources = Files.createDirectories(DurablePravega.DIR.resolveSibling("connector-" + COMMIT));
            extract(sources);
            Outcome build = run("mvn", "-B", "-ntp", "-q", "-DskipTests",
                    "-f", sources.resolve(MODULE).resolve("pom.xml").toString(), "package");
            assertEquals(0, build.status(), build.output());
            Files.move(sources.resolve(JAR), jar, StandardCopyOption.ATOMIC_MOVE);
        }
        return jar;
    }

    private static void extract(Path folder) throws Exception {
        Outcome top = git("rev-parse", "--show-toplevel");
        assumeTrue(top.status() == 0, () -> "no git repository here: " + top.output());
        Path archive = folder.resolve("sources.tar");
        Outcome found = git("-C", top.output().trim(), "archive", "--output", archive.toString(), COMMIT, MODULE);
        assumeTrue(found.status() == 0, () -> "commit " + COMMIT + " is not here: " + found.output());
        Outcome extracted = run("tar", "-x", "-f", archive.toString(), "-C", folder.toString());
        assertEquals(0, extracted.status(), extracted.output());
    }

    private static Outcome git(String... arguments) throws Exception {
        String[] command = new String[arguments.length + 1];
        command[0] = "git";
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        try {
            return run(command);
        } catch (IOException noGit) {
            return new Outcome(-1, noGit.getMessage());
        }
    }

    private static Outcome run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Outcome(process.waitFor(), output);
    }
}
