package murmuration.spark;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Writes events of {@code hashtag-counts}. */
final class CountEvent {
    private static final JsonFactory JSON = new JsonFactory();

    private CountEvent() {}

    static byte[] write(long bucketMs, long lengthMs, String hashtag, HashtagCount count) {
        ByteArrayOutputStream event = new ByteArrayOutputStream(160);
        try (JsonGenerator json = JSON.createGenerator(event)) {
            json.writeStartObject();
            json.writeNumberField("bucket_start", bucketMs / 1000);
            json.writeNumberField("bucket_seconds", lengthMs / 1000);
            json.writeStringField("hashtag", hashtag);
            json.writeNumberField("count", count.tweets());
            if (count.hasSent()) {
                json.writeNumberField("min_sent_us", count.minSentUs());
                json.writeNumberField("max_sent_us", count.maxSentUs());
            }
            json.writeEndObject();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return event.toByteArray();
    }
}
