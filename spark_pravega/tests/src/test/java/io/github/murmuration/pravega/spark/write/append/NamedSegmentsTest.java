// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.append;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.pravega.client.segment.impl.Segment;
import io.pravega.client.stream.impl.SegmentWithRange;
import io.pravega.client.stream.impl.StreamSegments;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What of an epoch goes to which segment; no server is asked. */
@Tag("core")
class NamedSegmentsTest {
    /** As after a scale: the ids do not tell the order of the ranges. */
    private static final StreamSegments STREAM = stream(Map.of(0.1, 7L, 1.0 / 3, 2L, Math.nextUp(0.75), 1L, 1.0, 9L));
    private static final NamedSegments SPREAD = NamedSegments.of(STREAM, true);
    private static final NamedSegments IN_TURN = NamedSegments.of(STREAM, false);
    private static final List<String> KEYS = IntStream.range(0, 200).mapToObj(number -> "key-" + number % 20).toList();

    @Test
    void rangesAreThoseOfTheStream() {
        assertEquals(List.of(0.1, 1.0 / 3, Math.nextUp(0.75), 1.0), SPREAD.ends());
        assertEquals(List.of(segment(7), segment(2), segment(1), segment(9)), SPREAD.segments());
        assertEquals(new NamedSegments(SPREAD.segments(), List.of()), IN_TURN);
        assertFalse(NamedSegments.of(stream(Map.of(1.0, 0L)), true).areSpread());
    }

    @Test
    void aKeyGoesWhereItsRangeIs() {
        SPREAD.parts(List.of(kept(KEYS)), 3).forEach((segment, part) -> {
            assertFalse(texts(part).isEmpty());
            texts(part).forEach(text -> assertEquals(segment, STREAM.getSegmentForKey(text.split(" ")[0])));
        });
    }

    @Test
    void everyRowIsInOnePartInItsOrder() {
        List<KeptEvents> tasks = List.of(kept(KEYS.subList(0, 90)), kept(KEYS.subList(90, 200)));
        List<String> all = new ArrayList<>();
        SPREAD.parts(tasks, 3).values().forEach(part -> {
            List<String> texts = texts(part);
            all.addAll(texts);
            List<Integer> order = texts.stream().map(text -> task(text) * 1000 + number(text)).toList();
            assertEquals(order.stream().sorted().toList(), order);
        });
        assertEquals(200, all.size());
        assertEquals(200, Set.copyOf(all).size());
    }

    @Test
    void rowsWithoutAKeyTakeTurns() {
        List<KeptEvents> mixed = List.of(kept(Arrays.asList("key-1", null, "key-1", null)));
        for (int epoch = 0; epoch < 8; epoch++) {
            Segment turn = SPREAD.segments().get(epoch % 4);
            assertTrue(texts(SPREAD.parts(mixed, epoch).get(turn)).stream()
                    .filter(text -> text.startsWith("null")).count() == 2);
            List<KeptEvents> keyless = List.of(kept(Arrays.asList(null, null)));
            assertEquals(SPREAD.parts(keyless, epoch), IN_TURN.parts(keyless, epoch));
            assertEquals(Set.of(turn), IN_TURN.parts(keyless, epoch).keySet());
        }
    }

    @Test
    void theRestIsWhatNoSegmentHolds() {
        List<KeptEvents> tasks = List.of(kept(KEYS));
        Map<Segment, ByteBuffer> parts = SPREAD.parts(tasks, 0);
        List<String> rest = SPREAD.rest(tasks, 0, Set.of(segment(7), segment(1))).stream()
                .flatMap(kept -> texts(ByteBuffer.wrap(kept.framed())).stream()).sorted().toList();
        List<String> missing = new ArrayList<>(texts(parts.get(segment(2))));
        missing.addAll(texts(parts.get(segment(9))));
        assertEquals(missing.stream().sorted().toList(), rest);
        assertEquals(List.of(), SPREAD.rest(tasks, 0, parts.keySet()));
    }

    @Test
    void namesForKeysServeEpochsWithoutThem() {
        assertTrue(SPREAD.include(SPREAD) && SPREAD.include(IN_TURN) && IN_TURN.include(IN_TURN));
        assertFalse(IN_TURN.include(SPREAD) || NamedSegments.NONE.include(IN_TURN));
        assertEquals(SPREAD.segments(), List.copyOf(SPREAD.of(5)));
        assertEquals(List.of(segment(2)), List.copyOf(IN_TURN.of(5)));
    }

    private static StreamSegments stream(Map<Double, Long> idsByEnd) {
        NavigableMap<Double, SegmentWithRange> segments = new TreeMap<>();
        idsByEnd.forEach((end, id) -> segments.put(end, new SegmentWithRange(segment(id), null)));
        return new StreamSegments(segments);
    }

    private static Segment segment(long id) {
        return new Segment("scope", "stream", id);
    }

    /** Each event tells its key, a number of its task, and where it was there. */
    private static KeptEvents kept(List<String> keys) {
        KeptEvents.Builder kept = new KeptEvents.Builder("stream");
        for (int index = 0; index < keys.size(); index++) {
            String text = keys.get(index) + " " + (keys.size() > 100 ? 1 : 0) + " " + index;
            kept.add(keys.get(index), text.getBytes(StandardCharsets.UTF_8));
        }
        return kept.build();
    }

    private static int task(String text) {
        return Integer.parseInt(text.split(" ")[1]);
    }

    private static int number(String text) {
        return Integer.parseInt(text.split(" ")[2]);
    }

    private static List<String> texts(ByteBuffer part) {
        byte[] framed = new byte[part.remaining()];
        part.duplicate().get(framed);
        KeptEvents.Reader events = new KeptEvents("stream", framed, null).read();
        List<String> texts = new ArrayList<>();
        while (events.next()) {
            texts.add(new String(events.event(), StandardCharsets.UTF_8));
        }
        return texts;
    }
}
