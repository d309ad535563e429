package murmuration.spark;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** The {@code ingest} object of an event, as the contract has it: which one of its run it is. */
record Stamp(long sentUs, String source, String run, long seq) {
    private static final JsonFactory JSON = new JsonFactory();
    /** The largest that is read by whoever counts in floating point as well. */
    static final long MAX_SENT_US = (1L << 53) - 1;

    /**
     * The stamp of an event that may be anything; null if it has none that can be read.
     *
     * <p>What is unreadable behind it does not matter: Jackson is stricter than who reads the event in Python.
     */
    static Stamp of(byte[] event) {
        Stamp stamp = null;
        try (JsonParser json = JSON.createParser(event)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                return null;
            }
            for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
                JsonToken value = json.nextToken();
                if (name.equals("ingest")) {
                    stamp = null; // of several the last one holds
                    stamp = read(json, value);
                } else {
                    json.skipChildren();
                }
            }
        } catch (IOException unreadable) {
            return stamp;
        }
        return stamp;
    }

    private static Stamp read(JsonParser json, JsonToken value) throws IOException {
        if (value != JsonToken.START_OBJECT) {
            json.skipChildren();
            return null;
        }
        long sentUs = -1;
        String source = null;
        String run = null;
        long seq = -1;
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            JsonToken each = json.nextToken();
            switch (name) {
                case "sent_at_us" -> sentUs = number(json, each);
                case "source" -> source = text(json, each);
                case "run" -> run = text(json, each);
                case "seq" -> seq = number(json, each);
                default -> { }
            }
            json.skipChildren();
        }
        boolean isWhole = source != null && run != null && seq >= 0 && sentUs >= 0 && sentUs <= MAX_SENT_US;
        return isWhole ? new Stamp(sentUs, source, run, seq) : null;
    }

    /** Negative if it is none of ours. */
    private static long number(JsonParser json, JsonToken value) throws IOException {
        boolean isInteger = value == JsonToken.VALUE_NUMBER_INT;
        return isInteger && json.getNumberType() != JsonParser.NumberType.BIG_INTEGER ? json.getLongValue() : -1;
    }

    /** Null if it is none, or none that can be written: half a surrogate pair has no bytes. */
    private static String text(JsonParser json, JsonToken value) throws IOException {
        String text = value == JsonToken.VALUE_STRING ? json.getText() : null;
        return text != null && StandardCharsets.UTF_8.newEncoder().canEncode(text) ? text : null;
    }

    /** How long its texts are, in characters. */
    int length() {
        return source.length() + run.length();
    }

    void write(JsonGenerator json) throws IOException {
        json.writeStartObject();
        json.writeNumberField("sent_at_us", sentUs);
        json.writeStringField("source", source);
        json.writeStringField("run", run);
        json.writeNumberField("seq", seq);
        json.writeEndObject();
    }
}
