package murmuration.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which tweets have been counted, by their ids alone. State: by the upper bits of the id, an {@link IdSlice}.
 *
 * <p>A slice is forgotten as a whole, once the watermark is {@code delay} beyond the latest {@code created_at} in it:
 * so every id is remembered for at least that long. A slice that has grown by the time it is looked at is put off.
 */
final class RememberedIds {
    private final Counting counting;
    private final StateMap slices;
    private final Agenda agenda;
    private final Map<Long, IdSlice> touched = new HashMap<>();

    RememberedIds(Counting counting, StateMap slices, Agenda agenda) {
        this.counting = counting;
        this.slices = slices;
        this.agenda = agenda;
    }

    /** False if the tweet is a repeat. */
    boolean add(Tweet tweet) {
        IdSlice slice = touched.computeIfAbsent(tweet.id() >> IdSlice.BITS, this::load);
        return slice.add((int) tweet.id(), tweet.createdMs());
    }

    private IdSlice load(long number) {
        byte[] packed = slices.get(number);
        return packed == null ? new IdSlice() : new IdSlice(packed);
    }

    void store() {
        Map<Long, List<Long>> newByEnd = new HashMap<>();
        touched.forEach((number, slice) -> {
            if (slice.isNew()) {
                newByEnd.computeIfAbsent(forgottenAt(slice.latestMs()), absent -> new ArrayList<>()).add(number);
            }
            if (slice.isChanged()) {
                slices.put(number, slice.toBytes());
            }
        });
        newByEnd.forEach((end, numbers) -> agenda.add(end, numbers.stream().mapToLong(Long::longValue).toArray()));
        touched.clear();
    }

    /** Forgets the slices of this entry of the agenda whose time has come. */
    void forget(long bucketEndMs, long watermarkMs) {
        for (long number : agenda.take(bucketEndMs)) {
            long latestMs = IdSlice.latestMs(slices.get(number));
            if (latestMs + counting.delayMs() <= watermarkMs) {
                slices.remove(number);
            } else {
                agenda.add(forgottenAt(latestMs), number);
            }
        }
    }

    private long forgottenAt(long latestMs) {
        return counting.bucketEndFrom(latestMs + counting.delayMs());
    }
}
