package murmuration.spark;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;

/** Dates as <i>enrich</i> writes them, {@code 2026-01-31T12:34:56.789Z}, read without the cost of a general parser. */
final class Rfc3339 {
    private static final String SHAPE = "0000-00-00T00:00:00.000Z";

    private Rfc3339() {}

    /**
     * Milliseconds since the epoch.
     *
     * @throws java.time.DateTimeException if there is no such date
     * @throws ArithmeticException if it is too far away
     */
    static long millis(String written) {
        if (!hasShape(written)) {
            return Instant.parse(written).toEpochMilli();
        }
        LocalDate day = LocalDate.of(number(written, 0, 4), number(written, 5, 7), number(written, 8, 10));
        LocalTime time = LocalTime.of(number(written, 11, 13), number(written, 14, 16), number(written, 17, 19));
        return (day.toEpochDay() * 86_400 + time.toSecondOfDay()) * 1000 + number(written, 20, 23);
    }

    private static boolean hasShape(String written) {
        boolean fits = written.length() == SHAPE.length();
        for (int at = 0; fits && at < SHAPE.length(); at++) {
            char found = written.charAt(at);
            char expected = SHAPE.charAt(at);
            fits = expected == '0' ? found >= '0' && found <= '9' : found == expected;
        }
        return fits;
    }

    private static int number(String digits, int from, int to) {
        int value = 0;
        for (int at = from; at < to; at++) {
            value = 10 * value + digits.charAt(at) - '0';
        }
        return value;
    }
}
