package murmuration.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

class BucketCountsTest {
    private static final Counting COUNTING = new Counting(5000, 100, "counts", new Shards(1));

    @Test
    void theBucketItsHashtagsAndSlotsAreCounted() {
        BucketCounts counts = new BucketCounts(COUNTING);
        counts.add(new Tweet(1, 0, 150L, List.of("a", "")));
        counts.add(new Tweet(2, 0, 199L, List.of("a", "b")));
        counts.add(new Tweet(3, 0, 99L, List.of()));
        assertEquals(
                List.of("BUCKET  3 99..199", "HASHTAG a 2 150..199", "HASHTAG b 1 199..199", "SLOT  1 99..99",
                        "SLOT  2 150..199"),
                changed(counts));
    }

    @Test
    void aBucketWithinOneSlotIsNoSlot() {
        BucketCounts counts = new BucketCounts(COUNTING);
        counts.add(new Tweet(1, 0, 150L, List.of()));
        assertEquals(List.of("BUCKET  1 150..150", "SLOT  1 150..150"), changed(counts));
    }

    @Test
    void slotsComeLast() {
        BucketCounts counts = new BucketCounts(COUNTING);
        counts.add(new Tweet(1, 0, 150L, List.of("a")));
        List<CountEvent.Kind> kinds = new ArrayList<>();
        counts.forEachChanged((kind, hashtag, count) -> kinds.add(kind));
        assertEquals(List.of(CountEvent.Kind.BUCKET, CountEvent.Kind.HASHTAG, CountEvent.Kind.SLOT), kinds);
    }

    @Test
    void whatIsReadAgainGoesOnAndHasNotChanged() {
        BucketCounts before = new BucketCounts(COUNTING);
        before.add(new Tweet(1, 0, 150L, List.of("a", "ü😀")));
        BucketCounts counts = new BucketCounts(COUNTING, before.toBytes());
        assertEquals(List.of(), changed(counts));
        counts.add(new Tweet(1, 0, 150L, List.of("a")));
        assertFalse(counts.isChanged());
        counts.add(new Tweet(2, 0, 170L, List.of("ü😀")));
        assertTrue(counts.isChanged());
        assertEquals(List.of("BUCKET  2 150..170", "HASHTAG ü😀 2 150..170", "SLOT  2 150..170"), changed(counts));
    }

    @Test
    void eachIdCountsOnceWhateverItsBitsEvenIfItIsReadAgain() {
        long[] odd = {0, 1, -1, 1L << 31, 1L << 32, (1L << 32) + 1, Long.MAX_VALUE, Long.MIN_VALUE};
        BucketCounts before = new BucketCounts(COUNTING);
        for (long id : odd) {
            before.add(new Tweet(id, 0, 150L, List.of()));
        }
        assertEquals(List.of("BUCKET  8 150..150", "SLOT  8 150..150"), changed(before));
        BucketCounts counts = new BucketCounts(COUNTING, before.toBytes());
        for (long id : odd) {
            counts.add(new Tweet(id, 0, 150L, List.of()));
        }
        assertFalse(counts.isChanged());
    }

    /** Checkpoints hold it: another form is another FORMAT of what is stored (deploy/local/state.py). */
    @Test
    void whatIsStoredHasItsForm() {
        BucketCounts counts = new BucketCounts(COUNTING);
        counts.add(new Tweet(7, 0, 150L, List.of("ü")));
        String once = "0000000000000001" + "0000000000000096".repeat(2);
        assertEquals(
                "00000001" + "0000000000000007" + once
                        + "00000001" + "0000000000000001" + once
                        + "00000002" + "c3bc" + once,
                HexFormat.of().formatHex(counts.toBytes()));
    }

    private static List<String> changed(BucketCounts counts) {
        List<String> changed = new ArrayList<>();
        counts.forEachChanged((kind, hashtag, count) -> changed.add(
                kind + " " + hashtag + " " + count.tweets() + " " + count.minSentUs() + ".." + count.maxSentUs()));
        return changed.stream().sorted().toList();
    }
}
