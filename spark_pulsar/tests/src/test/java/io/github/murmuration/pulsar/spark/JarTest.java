// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The jar has what it needs, and nothing that is in another's way. */
@Tag("core")
class JarTest {
    private static final Pattern SHADED = Pattern.compile(
            "^(META-INF/versions/\\d+/)?(org/apache/pulsar/shade/|io/github/murmuration/pulsar/shaded/|(?=com/))");

    @Test
    void allClassesAreBelowOwnPackagesOrPulsars() throws Exception {
        try (JarFile jar = jar()) {
            List<String> others = jar.stream().map(entry -> entry.getName())
                    .filter(name -> name.endsWith(".class"))
                    .filter(name -> !name.replaceFirst("META-INF/versions/\\d+/", "").matches(
                            "(io/github/murmuration|org/apache)/pulsar/.*|com/scurrilous/circe/.*")).toList();
            assertEquals(List.of(), others);
        }
    }

    @Test
    void theLicenceNamesWhatIsCarried() throws Exception {
        try (JarFile jar = jar()) {
            String licence = text(jar, "LICENSE");
            List<String> carried = jar.stream().map(entry -> entry.getName()).filter(name -> name.endsWith(".class"))
                    .filter(name -> SHADED.matcher(name).find())
                    .map(name -> SHADED.matcher(name).replaceFirst("").split("/"))
                    .map(parts -> parts[0] + "." + parts[1]).distinct().sorted().toList();
            assertTrue(carried.contains("io.netty"));
            assertEquals(List.of(), carried.stream().filter(name -> !licence.contains(" " + name)).toList());
            for (String file : List.of("LICENSE", "NOTICE", "CHANGELOG.md")) {
                assertTrue(text(jar, file).contains("Pulsar"), file);
            }
        }
    }

    @Test
    void nothingThatSparkHasIsInItsWay() throws Exception {
        try (JarFile jar = jar()) {
            for (String name : List.of("org/apache/avro/Schema.class", "org/slf4j/Logger.class",
                    "com/fasterxml/jackson/databind/ObjectMapper.class", "io/netty/channel/Channel.class")) {
                assertNull(jar.getEntry(name), name);
            }
        }
    }

    /** Java's is several times slower, and each batch that is read or written has one. */
    @Test
    @EnabledOnOs(value = OS.LINUX, architectures = "amd64")
    void checksumsAreOfTheProcessorsInstruction() throws Exception {
        assertEquals(true, Class.forName("com.scurrilous.circe.crc.Sse42Crc32C").getMethod("isSupported").invoke(null));
    }

    private static String text(JarFile jar, String file) throws IOException {
        return new String(jar.getInputStream(jar.getEntry("META-INF/" + file)).readAllBytes(), StandardCharsets.UTF_8);
    }

    private static JarFile jar() throws Exception {
        return new JarFile(
                Path.of(PulsarTable.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toFile());
    }
}
