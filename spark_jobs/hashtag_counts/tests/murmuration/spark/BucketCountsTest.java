package murmuration.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

class BucketCountsTest {
    private static final Counting COUNTING = new Counting(5000, 100, "", "counts");

    @Test
    void hashtagsTotalAndSlotsAreCounted() {
        BucketCounts counts = new BucketCounts(COUNTING);
        counts.add(new Tweet(1, 0, 150L, List.of("a", "")));
        counts.add(new Tweet(2, 0, 199L, List.of("a", "b")));
        counts.add(new Tweet(3, 0, -1L, List.of()));
        counts.add(new Tweet(4, 0, null, List.of()));
        assertEquals(List.of(" 1 -1..-1", " 2 150..199", " 4 -1..199", "a 2 150..199", "b 1 199..199"), changed(counts));
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
        assertEquals(List.of(" 2 150..170", " 2 150..170", "ü😀 2 150..170"), changed(counts));
    }

    @Test
    void eachIdCountsOnceWhateverItsBitsEvenIfItIsReadAgain() {
        long[] odd = {0, 1, -1, 1L << 31, 1L << 32, (1L << 32) + 1, Long.MAX_VALUE, Long.MIN_VALUE};
        BucketCounts before = new BucketCounts(COUNTING);
        for (long id : odd) {
            before.add(new Tweet(id, 0, null, List.of()));
        }
        assertEquals(List.of(" 8 " + Long.MAX_VALUE + ".." + Long.MIN_VALUE), changed(before));
        BucketCounts counts = new BucketCounts(COUNTING, before.toBytes());
        for (long id : odd) {
            counts.add(new Tweet(id, 0, null, List.of()));
        }
        assertFalse(counts.isChanged());
    }

    /** A checkpoint that an earlier version left is read on. */
    @Test
    void whatIsStoredHasItsForm() {
        BucketCounts counts = new BucketCounts(COUNTING);
        counts.add(new Tweet(7, 0, 150L, List.of()));
        assertEquals(
                "00000001" + "0000000000000007"
                        + "00000001" + "0000000000000001" + "0000000000000001" + "0000000000000096".repeat(2)
                        + "00000000" + "0000000000000001" + "0000000000000096".repeat(2),
                HexFormat.of().formatHex(counts.toBytes()));
    }

    private static List<String> changed(BucketCounts counts) {
        List<String> changed = new ArrayList<>();
        counts.forEachChanged((hashtag, count) -> changed.add(
                hashtag + " " + count.tweets() + " " + count.minSentUs() + ".." + count.maxSentUs()));
        return changed.stream().sorted().toList();
    }
}
