// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.read.plan;

import io.pravega.client.stream.StreamCut;
import io.pravega.client.stream.impl.StreamCutImpl;
import java.util.TreeMap;
import org.apache.spark.sql.connector.read.streaming.Offset;

/**
 * A stream cut as the offset of a streaming query; in JSON a string with Pravega's text form of the cut.
 *
 * <p>Spark compares offsets by their JSON, so the positions are put in order: equal cuts give equal texts.
 */
public final class PravegaOffset extends Offset {
    private final StreamCut cut;
    private final String json;

    public PravegaOffset(StreamCut cut) {
        this.cut = cut;
        json = '"' + new StreamCutImpl(
                cut.asImpl().getStream(), new TreeMap<>(cut.asImpl().getPositions())).asText() + '"';
    }

    /** @throws IllegalArgumentException if another data source made the text */
    public static PravegaOffset fromJson(String json) {
        String text = json.trim();
        if (text.length() < 2 || !text.startsWith("\"") || !text.endsWith("\"")) {
            throw new IllegalArgumentException("not an offset of this data source: " + json);
        }
        return new PravegaOffset(StreamCut.from(text.substring(1, text.length() - 1)));
    }

    /** @param offset an offset of this source, or what Spark read of one from a checkpoint */
    public static PravegaOffset of(Offset offset) {
        return offset instanceof PravegaOffset own ? own : fromJson(offset.json());
    }

    public StreamCut cut() {
        return cut;
    }

    @Override
    public String json() {
        return json;
    }
}
