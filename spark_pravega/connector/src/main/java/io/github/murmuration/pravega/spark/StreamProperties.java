// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark;

import io.pravega.client.stream.RetentionPolicy;
import io.pravega.client.stream.ScalingPolicy;
import io.pravega.client.stream.StreamConfiguration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.apache.spark.sql.connector.catalog.TableChange;

/** The configuration of a stream as properties of a table: the options that a created stream takes it from. */
final class StreamProperties {
    private static final List<String> NAMES = List.of(
            PravegaOptions.DEFAULT_NUM_SEGMENTS, PravegaOptions.DEFAULT_SEGMENT_TARGET_BYTES,
            PravegaOptions.DEFAULT_SEGMENT_TARGET_EVENTS, PravegaOptions.DEFAULT_SCALE_FACTOR,
            PravegaOptions.DEFAULT_RETENTION_MILLISECONDS, PravegaOptions.DEFAULT_RETENTION_BYTES);
    private static final long KIB = 1024;

    private StreamProperties() {
    }

    static Map<String, String> of(StreamConfiguration configuration) {
        Map<String, String> properties = new HashMap<>();
        ScalingPolicy scaling = configuration.getScalingPolicy();
        properties.put(PravegaOptions.DEFAULT_NUM_SEGMENTS, Integer.toString(scaling.getMinNumSegments()));
        switch (scaling.getScaleType()) {
            case BY_RATE_IN_KBYTES_PER_SEC -> putRate(
                    properties, PravegaOptions.DEFAULT_SEGMENT_TARGET_BYTES, scaling.getTargetRate() * KIB, scaling);
            case BY_RATE_IN_EVENTS_PER_SEC -> putRate(
                    properties, PravegaOptions.DEFAULT_SEGMENT_TARGET_EVENTS, scaling.getTargetRate(), scaling);
            default -> { }
        }
        RetentionPolicy retention = configuration.getRetentionPolicy();
        if (retention != null) {
            properties.put(retention.getRetentionType() == RetentionPolicy.RetentionType.TIME
                    ? PravegaOptions.DEFAULT_RETENTION_MILLISECONDS
                    : PravegaOptions.DEFAULT_RETENTION_BYTES, Long.toString(retention.getRetentionParam()));
        }
        return properties;
    }

    private static void putRate(Map<String, String> properties, String name, long rate, ScalingPolicy scaling) {
        properties.put(name, Long.toString(rate));
        properties.put(PravegaOptions.DEFAULT_SCALE_FACTOR, Integer.toString(scaling.getScaleFactor()));
    }

    /**
     * A configuration after changes of the table's properties; what these do not tell, as tags, stays.
     *
     * @throws UnsupportedOperationException if something else is to be changed
     */
    static StreamConfiguration changed(StreamConfiguration current, TableChange... changes) {
        Map<String, String> properties = of(current);
        for (TableChange change : changes) {
            if (change instanceof TableChange.SetProperty set) {
                properties.put(name(set.property()), set.value());
            } else if (change instanceof TableChange.RemoveProperty removed) {
                properties.remove(name(removed.property()));
            } else {
                throw new UnsupportedOperationException("the columns of a stream are fixed; ALTER TABLE changes "
                        + "properties, by SET TBLPROPERTIES and UNSET TBLPROPERTIES: " + NAMES);
            }
        }
        StreamConfiguration told = new PravegaOptions(of(current)).streamConfiguration();
        StreamConfiguration changed = new PravegaOptions(properties).streamConfiguration();
        boolean keeps = Objects.equals(changed.getRetentionPolicy(), told.getRetentionPolicy());
        return current.toBuilder().scalingPolicy(changed.getScalingPolicy())
                .retentionPolicy(keeps ? current.getRetentionPolicy() : changed.getRetentionPolicy()).build();
    }

    /** @throws IllegalArgumentException if a stream has no such property */
    static String name(String given) {
        String name = given.toLowerCase(Locale.ROOT);
        if (!NAMES.contains(name)) {
            throw new IllegalArgumentException("a stream has no property " + given + ", but " + NAMES
                    + "; other options are given to the catalog, or to a read or write");
        }
        return name;
    }
}
