// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.write.append.KeptEvents;
import io.github.murmuration.pravega.spark.write.append.NamedSegments;
import io.github.murmuration.pravega.spark.write.transaction.TransactionId;
import io.pravega.client.segment.impl.Segment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is stored of an epoch, and how much a task may keep; no server is asked. */
@Tag("core")
class EpochRecordTest {
    private static final EpochRecord RECORD = new EpochRecord(7, true,
            List.of(new TransactionId("scope", "stream", new UUID(1, 2), TransactionId.KEPT, 3)),
            new NamedSegments(List.of(new Segment("scope", "stream", 0), new Segment("scope", "stream", 1L << 32)),
                    List.of(0.1, 1.0)));

    @Test
    void aRecordIsReadAsItWasWritten() {
        assertEquals(RECORD, EpochRecord.fromBytes(RECORD.toBytes()));
        assertEquals(EpochRecord.NONE, EpochRecord.fromBytes(EpochRecord.NONE.toBytes()));
    }

    /** Its epochs went to one segment each. */
    @Test
    void theFirstReleasesRecordsAreRead() {
        EpochRecord inTurn = new EpochRecord(RECORD.epoch(), RECORD.committed(), RECORD.transactions(),
                new NamedSegments(RECORD.appendedTo().segments(), List.of()));
        byte[] later = inTurn.toBytes().put(0, (byte) 1).array();
        int flag = 1 + Long.BYTES + 1 + Integer.BYTES + "scope/stream/0.#epoch.0".length() * 2 + 2 * Short.BYTES;
        byte[] first = new byte[later.length - 1];
        System.arraycopy(later, 0, first, 0, flag);
        System.arraycopy(later, flag + 1, first, flag, first.length - flag);
        assertEquals(inTurn, EpochRecord.fromBytes(ByteBuffer.wrap(first)));
    }

    @Test
    void aLaterReleasesRecordIsRefused() {
        ByteBuffer later = RECORD.toBytes().put(0, (byte) 3);
        PravegaException refused = assertThrows(PravegaException.class, () -> EpochRecord.fromBytes(later));
        assertTrue(refused.getMessage().contains("newer"), refused::getMessage);
    }

    /** A small share is raised to a MiB, but all together keep no more than four appends hold. */
    @ParameterizedTest
    @CsvSource({"1, 1.0", "2, 0.5", "12, 0.08333", "40, 0.0625", "200, 0.02"})
    void tasksKeepTheirShareOrAMebibyte(int tasks, double ofAnAppend) {
        assertEquals(ofAnAppend, EpochWrite.keptByTask(tasks) / (double) KeptEvents.MAX_BYTES, 0.001);
    }
}
