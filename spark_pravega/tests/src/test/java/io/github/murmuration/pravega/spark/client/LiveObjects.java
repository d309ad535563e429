// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.client;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;

/** The objects of this JVM that something still refers to. */
public final class LiveObjects {
    private LiveObjects() {
    }

    /** How many of a class there are, after a garbage collection. */
    public static int count(String type) {
        try {
            String histogram = (String) ManagementFactory.getPlatformMBeanServer().invoke(
                    new ObjectName("com.sun.management:type=DiagnosticCommand"), "gcClassHistogram",
                    new Object[] {new String[0]}, new String[] {String[].class.getName()});
            return histogram.lines().map(line -> line.trim().split("\\s+"))
                    .filter(line -> line.length > 3 && line[3].equals(type))
                    .mapToInt(line -> Integer.parseInt(line[1])).sum();
        } catch (JMException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
