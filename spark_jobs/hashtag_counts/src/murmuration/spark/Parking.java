package murmuration.spark;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;

/**
 * How events that cannot be read are parked: as events of {@code tweets-rejected}.
 *
 * @param source the stream that they are in
 * @param stream where they go
 * @param maxBytes how much of each is kept; a stamp with texts longer than that is left out
 */
public record Parking(String source, String stream, int maxBytes) implements Serializable {
    private static final JsonFactory JSON = new JsonFactory();
    private static final DateTimeFormatter RFC3339 =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSX").withZone(ZoneOffset.UTC);

    String position(Object partition, Object offset) {
        return source + "/" + partition + "/" + offset;
    }

    byte[] rejected(byte[] event, String position, Instant now) {
        ByteArrayOutputStream rejected = new ByteArrayOutputStream();
        try (JsonGenerator json = JSON.createGenerator(rejected)) {
            json.writeStartObject();
            json.writeStringField("reason", "unreadable");
            json.writeFieldName("event");
            json.writeBinary(event, 0, Math.min(event.length, maxBytes));
            json.writeNumberField("bytes", event.length);
            json.writeStringField("sha256", sha256(event));
            json.writeFieldName("ingest");
            writeStamp(json, Stamp.of(event));
            json.writeStringField("rejected_at", RFC3339.format(now));
            json.writeStringField("stage", "trending");
            json.writeStringField("position", position);
            json.writeEndObject();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return rejected.toByteArray();
    }

    private void writeStamp(JsonGenerator json, Stamp stamp) throws IOException {
        if (stamp == null || stamp.length() > maxBytes) {
            json.writeNull();
        } else {
            stamp.write(json);
        }
    }

    private static String sha256(byte[] event) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(event));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
