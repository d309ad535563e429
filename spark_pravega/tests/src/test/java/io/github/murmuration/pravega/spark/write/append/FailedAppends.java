// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.append;

import io.github.murmuration.spark.testing.LogListener;
import java.util.function.Predicate;
import org.apache.logging.log4j.Level;

/** Stands where an epoch goes to a segment, and lets it fail there, as if its driver had died. */
public final class FailedAppends extends LogListener {
    /** @param fails is told the epoch's number and the segment's scoped name, by the thread that is to append */
    public FailedAppends(AppendFails fails) {
        super(SegmentEpochs.class, Level.DEBUG, Level.ALL, message -> {
            if (message.getFormat().contains("goes to") && fails.test(
                    (long) message.getParameters()[0], (String) message.getParameters()[2])) {
                throw new IllegalStateException("the driver dies");
            }
        });
    }

    /** Whether an append is to fail. */
    public interface AppendFails {
        boolean test(long epoch, String segment);
    }

    /** By the number of the segment in a stream that has not scaled. */
    public static Predicate<String> isOneOf(int... numbers) {
        return segment -> {
            for (int number : numbers) {
                if (segment.endsWith("/" + number + ".#epoch.0")) {
                    return true;
                }
            }
            return false;
        };
    }
}
