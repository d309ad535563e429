// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the jar that is shipped holds: nothing that is in anyone's way, and nothing without its licence. */
@Tag("core")
class JarTest {
    private static final String OWN = "io/github/murmuration/pravega/spark/";
    private static final String SHADED = "io/github/murmuration/pravega/shaded/";
    private static final String SERVICES = "META-INF/services/";
    private static final Pattern NAMED_PACKAGE = Pattern.compile("(?m)^ {6}([a-z]+(?:\\.[a-z]+)+) ");
    private static final Pattern NAMED_TEXT = Pattern.compile("licenses/[a-z0-9-]+\\.txt");
    /** Natives are none of it: those of Netty would bear names that the relocated Netty does not look for. */
    private static final Pattern RESOURCE = Pattern.compile("META-INF/(MANIFEST\\.MF|LICENSE|NOTICE|CHANGELOG\\.md"
            + "|licenses/[^/]+|services/[^/]+"
            + "|maven/[^/]+/pravega-connectors-spark-[^/]+/pom\\..*)");

    private static JarFile jar;

    @BeforeAll
    static void open() throws Exception {
        jar = new JarFile(new File(
                PravegaTableProvider.class.getProtectionDomain().getCodeSource().getLocation().toURI()));
    }

    @AfterAll
    static void close() throws IOException {
        jar.close();
    }

    @Test
    void everyClassIsOursOrNamedInTheLicence() throws IOException {
        Set<String> named = found(NAMED_PACKAGE, text("META-INF/LICENSE"));
        assertTrue(named.contains("io.pravega"), named::toString);
        Set<String> foreign = classes().filter(name -> !name.startsWith(OWN)).collect(Collectors.toSet());
        assertNone(foreign.stream().filter(name -> !name.startsWith(SHADED) && !name.startsWith("io/pravega/")));
        assertNone(foreign.stream().filter(name -> named.stream().noneMatch(
                packages -> name.replace(SHADED, "").startsWith(packages.replace('.', '/') + '/'))));
    }

    /** Neither on Spark's, Scala's or SLF4J's side nor on that of the tests, with all that they bring along. */
    @Test
    void noClassIsAnywhereElseOnTheClassPath() {
        assertNone(classes().filter(name -> copies(name) > 1));
    }

    @Test
    void nothingElseIsInIt() {
        assertNone(names().filter(name -> !name.endsWith(".class") && !RESOURCE.matcher(name).matches()));
    }

    @Test
    void servicesNameItsOwnClasses() throws IOException {
        List<String> services = names().filter(name -> name.startsWith(SERVICES)).toList();
        assertTrue(services.contains(SERVICES + "org.apache.spark.sql.sources.DataSourceRegister"), services::toString);
        for (String service : services) {
            for (String provider : text(service).lines().filter(line -> !line.matches("#.*|\\s*")).toList()) {
                String name = provider.strip().replace('.', '/') + ".class";
                assertTrue(name.startsWith(OWN) || name.startsWith(SHADED), () -> service + ": " + provider);
                assertNotNull(jar.getEntry(name), () -> service + ": " + provider);
            }
        }
    }

    @Test
    void theTextOfEachLicenceIsInIt() throws IOException {
        Set<String> texts = names().filter(name -> name.startsWith("META-INF/licenses/"))
                .map(name -> name.substring("META-INF/".length())).collect(Collectors.toCollection(TreeSet::new));
        assertEquals(found(NAMED_TEXT, text("META-INF/LICENSE")), texts);
        assertFalse(texts.isEmpty());
    }

    @Test
    void itTellsWhoseItIsAndWhichVersion() throws IOException {
        assertTrue(text("META-INF/NOTICE").startsWith("Pravega data source for Spark"));
        String version = jar.getManifest().getMainAttributes().getValue(Attributes.Name.IMPLEMENTATION_VERSION);
        assertTrue(text("META-INF/CHANGELOG.md").contains(version.replace("-SNAPSHOT", "")), version);
    }

    private static void assertNone(Stream<String> names) {
        assertEquals(List.of(), names.sorted().limit(20).toList());
    }

    private static int copies(String name) {
        try {
            return Collections.list(JarTest.class.getClassLoader().getResources(name)).size();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** As the class loader knows them, of whatever version of Java. */
    private static Stream<String> classes() {
        return names().filter(name -> name.endsWith(".class"))
                .map(name -> name.replaceFirst("^META-INF/versions/\\d+/", "")).distinct();
    }

    private static Stream<String> names() {
        return jar.stream().filter(entry -> !entry.isDirectory()).map(JarEntry::getName);
    }

    private static String text(String name) throws IOException {
        JarEntry entry = jar.getJarEntry(name);
        assertNotNull(entry, () -> name + " is missing");
        return new String(jar.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8);
    }

    private static Set<String> found(Pattern pattern, String text) {
        return pattern.matcher(text).results().map((MatchResult match) -> match.group(match.groupCount()))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
