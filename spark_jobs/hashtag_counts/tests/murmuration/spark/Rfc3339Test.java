package murmuration.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;

class Rfc3339Test {
    private static final long FIRST_MS = Instant.parse("0001-01-01T00:00:00Z").toEpochMilli();
    private static final long LAST_MS = Instant.parse("9999-12-31T23:59:59.999Z").toEpochMilli();

    @Test
    void datesAsEnrichWritesThemAreReadAsJavaDoes() {
        Random random = new Random(1);
        for (int n = 0; n < 10_000; n++) {
            long ms = random.nextLong(FIRST_MS, LAST_MS + 1);
            assertEquals(ms, Rfc3339.millis(Instant.ofEpochMilli(ms).plusNanos(1).toString().substring(0, 23) + "Z"));
        }
        assertEquals(FIRST_MS, Rfc3339.millis("0001-01-01T00:00:00.000Z"));
        assertEquals(LAST_MS, Rfc3339.millis("9999-12-31T23:59:59.999Z"));
    }

    @Test
    void otherFormsAreReadToo() {
        assertEquals(951_782_400_000L, Rfc3339.millis("2000-02-29T00:00:00Z"));
        assertEquals(951_782_400_123L, Rfc3339.millis("2000-02-29T01:00:00.123456+01:00"));
    }

    @Test
    void whatIsNoDateIsRefused() {
        for (String written : new String[] {
            "", "today", "2026-02-29T00:00:00.000Z", "2026-13-01T00:00:00.000Z", "2026-01-01T24:00:01.000Z",
            "2026-01-01T00:00:60.000Z", "2026-01-01T00:00:00.00xZ", "2026-01-01T00:00:00.٠٠٠Z",
            "2026-01-01T00:00:00.000",
        }) {
            assertThrows(DateTimeException.class, () -> Rfc3339.millis(written), written);
        }
        assertThrows(ArithmeticException.class, () -> Rfc3339.millis("+999999999-01-01T00:00:00Z"));
    }
}
