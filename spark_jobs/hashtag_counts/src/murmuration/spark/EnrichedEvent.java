package murmuration.spark;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Set;

/** Reads one event of {@code tweets-enriched} in one pass, and not its texts, which <i>enrich</i> writes last. */
final class EnrichedEvent {
    private static final JsonFactory JSON = new JsonFactory();
    private static final byte[] NOTHING = {};
    /** How many fields are read. */
    private static final int FIELDS = 5;

    private Long id;
    private Long createdMs;
    private Boolean late;
    private Long sentUs;
    private Collection<String> hashtags = Set.of();

    private EnrichedEvent() {}

    /**
     * The tweet, or null if it is late, and hence not counted.
     *
     * @param event null is as good as empty
     * @throws UnreadableEventException if the event is not of the contract, as far as it is read
     */
    static Tweet read(byte[] event) throws UnreadableEventException {
        try (JsonParser json = JSON.createParser(event == null ? NOTHING : event)) {
            require(json, json.nextToken() == JsonToken.START_OBJECT);
            require(json, event[event.length - 1] == '}'); // what was cut off would not be noticed otherwise
            EnrichedEvent read = new EnrichedEvent();
            read.object(json);
            require(json, read.id != null && read.createdMs != null && read.late != null && read.sentUs != null);
            return read.late ? null : new Tweet(read.id, read.createdMs, read.sentUs, read.hashtags);
        } catch (IOException | DateTimeException | ArithmeticException notOfTheContract) {
            throw new UnreadableEventException(notOfTheContract);
        }
    }

    /** Reads until all is known. */
    private void object(JsonParser json) throws IOException {
        int known = 0;
        while (known < FIELDS) {
            String name = json.nextFieldName();
            if (name == null) {
                require(json, json.currentToken() == JsonToken.END_OBJECT);
                return;
            }
            known += field(json, name, json.nextToken()) ? 1 : 0;
        }
    }

    /** False if the field does not matter here. */
    private boolean field(JsonParser json, String name, JsonToken value) throws IOException {
        switch (name) {
            case "tweet_id" -> id = integer(json, value);
            case "created_at" -> createdMs = date(json, value);
            case "late" -> late = truth(json, value);
            case "hashtags" -> hashtags = texts(json, value);
            case "ingest" -> sentUs = sentUs(json, value);
            default -> {
                json.skipChildren();
                return false;
            }
        }
        return true;
    }

    private static Long sentUs(JsonParser json, JsonToken value) throws IOException {
        Long sent = null;
        if (value == JsonToken.VALUE_NULL) {
            return sent;
        }
        require(json, value == JsonToken.START_OBJECT);
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            JsonToken token = json.nextToken();
            if (name.equals("sent_at_us")) {
                sent = integer(json, token);
                require(json, sent == null || sent >= 0 && sent <= Stamp.MAX_SENT_US);
            } else {
                json.skipChildren();
            }
        }
        return sent;
    }

    private static Long integer(JsonParser json, JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_NULL) {
            return null;
        }
        require(json, value == JsonToken.VALUE_NUMBER_INT);
        return json.getLongValue();
    }

    private static Long date(JsonParser json, JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_NULL) {
            return null;
        }
        require(json, value == JsonToken.VALUE_STRING);
        return OffsetDateTime.parse(json.getText()).toInstant().toEpochMilli();
    }

    private static Boolean truth(JsonParser json, JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_NULL) {
            return null;
        }
        require(json, value.isBoolean());
        return json.getBooleanValue();
    }

    private static Collection<String> texts(JsonParser json, JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_NULL) {
            return Set.of();
        }
        require(json, value == JsonToken.START_ARRAY);
        Set<String> texts = new LinkedHashSet<>();
        for (JsonToken each = json.nextToken(); each != JsonToken.END_ARRAY; each = json.nextToken()) {
            require(json, each == JsonToken.VALUE_STRING);
            texts.add(json.getText());
        }
        return texts;
    }

    private static void require(JsonParser json, boolean met) throws JsonParseException {
        if (!met) {
            throw new JsonParseException(json, "not of the contract");
        }
    }
}
