// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.pravega.client.stream.RetentionPolicy;
import io.pravega.client.stream.ScalingPolicy;
import io.pravega.client.stream.StreamConfiguration;
import java.time.Duration;
import java.util.Map;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a stream has that no property tells must survive a change of its properties; no server is asked. */
@Tag("core")
class StreamPropertiesTest {
    private static final StreamConfiguration CURRENT = StreamConfiguration.builder()
            .scalingPolicy(ScalingPolicy.byEventRate(100, 3, 2))
            .retentionPolicy(RetentionPolicy.byTime(Duration.ofHours(1), Duration.ofHours(2)))
            .tag("tagged").timestampAggregationTimeout(1234).rolloverSizeBytes(5678).build();

    @Test
    void propertiesTellHowItScalesAndWhatItRetains() {
        assertEquals(Map.of(
                "default_num_segments", "2", "default_segment_target_rate_events_per_sec", "100",
                "default_scale_factor", "3", "default_retention_duration_milliseconds", "3600000"),
                StreamProperties.of(CURRENT));
    }

    @Test
    void whatIsNotChangedStays() {
        StreamConfiguration changed =
                StreamProperties.changed(CURRENT, TableChange.setProperty("Default_Num_Segments", "4"));
        assertEquals(ScalingPolicy.byEventRate(100, 3, 4), changed.getScalingPolicy());
        assertEquals(CURRENT.getRetentionPolicy(), changed.getRetentionPolicy());
        assertEquals(CURRENT.getTags(), changed.getTags());
        assertEquals(1234, changed.getTimestampAggregationTimeout());
        assertEquals(5678, changed.getRolloverSizeBytes());
    }

    @Test
    void whatIsChangedIsNew() {
        StreamConfiguration changed = StreamProperties.changed(CURRENT,
                TableChange.setProperty("default_retention_duration_milliseconds", "60000"));
        assertEquals(RetentionPolicy.byTime(Duration.ofMinutes(1)), changed.getRetentionPolicy());
    }
}
