package murmuration.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ParkingTest {
    private static final Parking PARKING = new Parking("enriched", "rejected", 100);
    private static final String STAMP =
            "{\"sent_at_us\":1,\"source\":\"ü\",\"run\":\"r\",\"seq\":9223372036854775807}";

    @Test
    void ofAParkedEventTheBeginningIsKeptAndTheDigestOfAll() {
        Parking four = new Parking("enriched", "rejected", 4);
        byte[] event = four.rejected("[1,2,3]".getBytes(StandardCharsets.UTF_8), "p", Instant.ofEpochMilli(1000));
        assertEquals(
                "{\"reason\":\"unreadable\",\"event\":\"WzEsMg==\",\"bytes\":7,"
                        + "\"sha256\":\"a615eeaee21de5179de080de8c3052c8da901138406ba71c38c032845f7d54f4\","
                        + "\"ingest\":null,\"rejected_at\":\"1970-01-01T00:00:01.000Z\","
                        + "\"stage\":\"trending\",\"position\":\"p\"}",
                new String(event, StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "{\"created_at\":\"2026-01-31T12:34:56\",\"late\":false,\"ingest\":%s,\"text\":\"x\"}",
        "{\"ingest\":%s}",
        "{\"ingest\":5,\"ingest\":%s}",
        "{\"x\":{\"ingest\":5},\"ingest\":%s} ",
        "{\"ingest\":%s,\"text\":\"cut o",
    })
    void itsStampIsKept(String event) {
        assertEquals(STAMP, stamp(event.formatted(STAMP)));
    }

    @Test
    void ofAStampOnlyTheFieldsOfTheContractAreKept() {
        assertEquals(STAMP, stamp("{\"ingest\":{\"x\":[{\"seq\":1}],\"seq\":0," + STAMP.substring(1) + "}"));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "", "no json", "[1]", "{}", "{\"ingest\":null}", "{\"ingest\":[]}", "{\"ingest\":{}}",
        "{\"ingest\":{\"sent_at_us\":1,\"source\":\"s\",\"run\":\"r\"}}",
        "{\"ingest\":{\"sent_at_us\":1,\"source\":\"s\",\"run\":\"r\",\"seq\":-1}}",
        "{\"ingest\":{\"sent_at_us\":1,\"source\":\"s\",\"run\":\"r\",\"seq\":9223372036854775808}}",
        "{\"ingest\":{\"sent_at_us\":1,\"source\":\"s\",\"run\":\"r\",\"seq\":1.0}}",
        "{\"ingest\":{\"sent_at_us\":1,\"source\":\"s\",\"run\":\"r\",\"seq\":\"1\"}}",
        "{\"ingest\":{\"sent_at_us\":-1,\"source\":\"s\",\"run\":\"r\",\"seq\":1}}",
        "{\"ingest\":{\"sent_at_us\":9007199254740992,\"source\":\"s\",\"run\":\"r\",\"seq\":1}}",
        "{\"ingest\":{\"sent_at_us\":1,\"source\":null,\"run\":\"r\",\"seq\":1}}",
        "{\"ingest\":{\"sent_at_us\":1,\"source\":\"s\",\"run\":5,\"seq\":1}}",
        "{\"ingest\":{\"sent_at_us\":1,\"source\":\"s\",\"run\":\"\\ud800\",\"seq\":1}}",
        "{\"ingest\":{\"sent_at_us\":1,\"source\":\"s\",\"run\":\"r\",\"seq\":1},\"ingest\":5}",
        "{\"ingest\":{\"sent_at_us\":1,\"source\":\"s\",\"run\":\"r\",\"seq\":1",
    })
    void whatIsNoStampIsNone(String event) {
        assertEquals("null", stamp(event));
    }

    @Test
    void aStampThatIsLongerThanWhatIsKeptIsLeftOut() {
        String event = "{\"ingest\":" + STAMP.replace("\"r\"", "\"" + "r".repeat(100) + "\"") + "}";
        assertEquals("null", stamp(event));
    }

    private static String stamp(String event) {
        byte[] bytes = PARKING.rejected(event.getBytes(StandardCharsets.UTF_8), "p", Instant.EPOCH);
        String rejected = new String(bytes, StandardCharsets.UTF_8);
        String before = "\"ingest\":";
        return rejected.substring(rejected.indexOf(before) + before.length(), rejected.indexOf(",\"rejected_at\""));
    }
}
