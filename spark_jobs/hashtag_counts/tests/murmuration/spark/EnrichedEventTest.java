package murmuration.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class EnrichedEventTest {
    @Test
    void datesAreReadToTheMillisecond() throws UnreadableEventException {
        assertEquals(-62_135_596_800_000L, createdMs("0001-01-01T00:00:00.000Z"));
        assertEquals(253_402_300_799_999L, createdMs("9999-12-31T23:59:59.999Z"));
        assertEquals(951_782_400_000L, createdMs("2000-02-29T00:00:00Z"));
        assertEquals(951_782_400_123L, createdMs("2000-02-29T01:00:00.123456+01:00"));
    }

    @Test
    void whatIsNoDateIsRefused() {
        for (String written : new String[] {
            "", "today", "2026-02-29T00:00:00.000Z", "2026-13-01T00:00:00.000Z", "2026-01-01T24:00:00.000Z",
            "2026-01-01T00:00:60.000Z", "2026-01-01T00:00:00.00xZ", "2026-01-01T00:00:00.٠٠٠Z",
            "2026-01-01T00:00:00.000", "+999999999-01-01T00:00:00Z",
        }) {
            assertThrows(UnreadableEventException.class, () -> createdMs(written), written);
        }
    }

    private static long createdMs(String written) throws UnreadableEventException {
        String event = "{\"tweet_id\":1,\"created_at\":\"%s\",\"late\":false,\"ingest\":{\"sent_at_us\":1}}"
                .formatted(written);
        return EnrichedEvent.read(event.getBytes(StandardCharsets.UTF_8)).createdMs();
    }
}
