// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The jar has what it needs, and nothing that is in another's way. */
@Tag("core")
class JarTest {
    @Test
    void allClassesAreBelowOwnPackagesOrPulsars() throws Exception {
        try (JarFile jar = jar()) {
            List<String> others = jar.stream().map(entry -> entry.getName())
                    .filter(name -> name.endsWith(".class"))
                    .filter(name -> !name.replaceFirst("META-INF/versions/\\d+/", "").matches(
                            "(io/github/murmuration|org/apache)/pulsar/.*")).toList();
            assertEquals(List.of(), others);
        }
    }

    @Test
    void theLicenceNamesWhatIsCarried() throws Exception {
        try (JarFile jar = jar()) {
            Set<String> carried = jar.stream().map(entry -> entry.getName()).filter(name -> name.endsWith(".class"))
                    .filter(name -> name.startsWith("io/github/murmuration/pulsar/shaded/"))
                    .map(name -> name.substring("io/github/murmuration/pulsar/shaded/".length()))
                    .map(name -> name.split("/")[0] + "." + name.split("/")[1]).collect(Collectors.toSet());
            assertEquals(Set.of("io.opentelemetry", "com.scurrilous"), carried);
            for (String file : List.of("LICENSE", "NOTICE", "CHANGELOG.md")) {
                String text = new String(jar.getInputStream(jar.getEntry("META-INF/" + file)).readAllBytes(),
                        StandardCharsets.UTF_8);
                assertTrue(text.contains("Pulsar"), file);
            }
        }
    }

    private static JarFile jar() throws Exception {
        return new JarFile(
                Path.of(PulsarTable.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toFile());
    }
}
