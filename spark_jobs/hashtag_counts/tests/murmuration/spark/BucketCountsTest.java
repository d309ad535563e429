package murmuration.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
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
        assertEquals(List.of(" 1 -1..-1", " 2 150..199", " 4 -1..199", "a 2 150..199", "b 1 199..199"),
            changed(counts));
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

    private static List<String> changed(BucketCounts counts) {
        List<String> changed = new ArrayList<>();
        counts.forEachChanged((hashtag, count) -> changed.add(
                hashtag + " " + count.tweets() + " " + count.minSentUs() + ".." + count.maxSentUs()));
        return changed.stream().sorted().toList();
    }
}
