package murmuration.spark;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Locale;

/** Writes events of {@code hashtag-counts}, each of which says first what it counts. */
final class CountEvent {
    private static final JsonFactory JSON = new JsonFactory();

    /** What is counted: tweets with a hashtag, all tweets of the bucket, or those of one slot of their sending. */
    enum Kind {
        HASHTAG, BUCKET, SLOT;

        private final String written = name().toLowerCase(Locale.ROOT);
    }

    private CountEvent() {}

    /** @param hashtag matters to that kind only */
    static byte[] write(
            long bucketMs, Counting counting, int shard, Kind kind, String hashtag, HashtagCount count) {
        ByteArrayOutputStream event = new ByteArrayOutputStream(224);
        try (JsonGenerator json = JSON.createGenerator(event)) {
            json.writeStartObject();
            json.writeStringField("kind", kind.written);
            json.writeNumberField("bucket_start", bucketMs / 1000);
            json.writeNumberField("bucket_seconds", counting.bucketMs() / 1000);
            json.writeNumberField("shards", counting.shards().number());
            json.writeNumberField("shard", shard);
            json.writeNumberField("count", count.tweets());
            json.writeNumberField("min_sent_us", count.minSentUs());
            json.writeNumberField("max_sent_us", count.maxSentUs());
            if (kind == Kind.HASHTAG) {
                json.writeStringField("hashtag", hashtag);
            }
            json.writeEndObject();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return event.toByteArray();
    }
}
