// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.cluster;

import io.github.murmuration.pravega.spark.write.epoch.EpochRecord;
import io.github.murmuration.pravega.spark.write.epoch.EpochStep;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** In which step of an epoch a driver was killed. Only here it is known what the data source logs of its steps. */
enum KillStep {
    BETWEEN_EPOCHS, IN_TASKS, BEFORE_RECORD, RECORDED, COMMITTED, IN_APPEND, APPENDED_ANSWER_LOST, APPENDED,
    /** A later driver has written the epoch, and no step of that is in its log. */
    UNTOLD;

    /** In each a driver is to be killed: in the record, the commit, the append, and when only its answer is missing. */
    static final List<KillStep> SOUGHT = List.of(BEFORE_RECORD, RECORDED, IN_APPEND, APPENDED_ANSWER_LOST);

    /** What is logged as an epoch goes on, at DEBUG. */
    private static final Pattern STEP =
            Pattern.compile("(?i)epoch (\\d+) of query \\S+ is (written|recorded|committed|appended)");
    /** What is logged by a driver that finds the work of the one before. */
    private static final Pattern FOUND = Pattern.compile("(?i)epoch (\\d+) was recorded by an earlier attempt");
    private static final Map<String, KillStep> AFTER = Map.of(
            "recorded", RECORDED, "committed", COMMITTED, "appended", APPENDED);

    /** The step that follows when this is logged. */
    static KillStep after(EpochStep logged, EpochRecord record) {
        return switch (logged) {
            case WRITTEN -> record.transactions().isEmpty() ? IN_APPEND : BEFORE_RECORD;
            case RECORDED -> RECORDED;
            case COMMITTED -> COMMITTED;
            case APPENDED -> APPENDED;
        };
    }

    /**
     * @param log of the killed driver
     * @param later logs of those after it; they may have been killed before they came to that epoch, or in it
     * @param wasThere whether the epoch's rows, or some of them, could be read when the driver was dead
     */
    static KillStep of(KilledCluster.Death death, List<String> log, List<List<String>> later, boolean wasThere) {
        long epoch = death.begun();
        if (epoch == death.done()) {
            return BETWEEN_EPOCHS;
        }
        Optional<String> last = steps(log, epoch).reduce((first, second) -> second);
        if (last.map(AFTER::get).isPresent()) {
            return AFTER.get(last.get());
        }
        List<String> next = later.stream().filter(each -> steps(each, epoch).findAny().isPresent())
                .findFirst().orElse(List.of());
        if (next.stream().map(FOUND::matcher).anyMatch(line -> line.find() && isOf(epoch, line))) {
            return RECORDED;
        }
        if (next.isEmpty()) {
            return UNTOLD;
        }
        if (wasThere) {
            return APPENDED_ANSWER_LOST;
        }
        boolean appends = later.stream().flatMap(each -> steps(each, epoch)).anyMatch("appended"::equals);
        return last.isEmpty() ? IN_TASKS : appends ? IN_APPEND : BEFORE_RECORD;
    }

    /** Whether all tasks of an epoch are done, or of a later one. */
    static boolean isAfterTasks(List<String> log, long epoch) {
        return log.stream().map(STEP::matcher).anyMatch(line -> line.find() && Long.parseLong(line.group(1)) >= epoch);
    }

    private static Stream<String> steps(List<String> log, long epoch) {
        return log.stream().map(STEP::matcher).filter(line -> line.find() && isOf(epoch, line))
                .map(line -> line.group(2).toLowerCase(Locale.ROOT));
    }

    private static boolean isOf(long epoch, Matcher line) {
        return Long.parseLong(line.group(1)) == epoch;
    }
}
