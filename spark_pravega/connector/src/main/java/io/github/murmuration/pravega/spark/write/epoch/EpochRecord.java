// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.write.transaction.TransactionId;
import io.pravega.client.segment.impl.Segment;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * The decision to commit: an epoch of a query consists of exactly these transactions. Later: they are committed.
 *
 * @param appendedTo the segments to which the epochs after this one are appended in turn that need no transactions, in
 *     that order; none, if there was no such epoch
 */
public record EpochRecord(long epoch, boolean committed, List<TransactionId> transactions, List<Segment> appendedTo) {
    /** What there is before the first. */
    public static final EpochRecord NONE = new EpochRecord(-1, true, List.of(), List.of());

    /** As the one before, but epochs are told in segments in another way, which that release would not understand. */
    private static final int FORMAT = 2;
    private static final int FORMAT_OF_FIRST_RELEASE = 1;

    public EpochRecord(long epoch, List<TransactionId> transactions) {
        this(epoch, false, transactions, List.of());
    }

    /** @throws PravegaException if {@code next} is an epoch before the recorded one */
    public void requireNotAfter(long next) {
        if (epoch > next) {
            throw PravegaException.setBack(epoch, next);
        }
    }

    EpochRecord asCommitted() {
        return new EpochRecord(epoch, true, transactions, appendedTo);
    }

    ByteBuffer toBytes() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(FORMAT);
            out.writeLong(epoch);
            out.writeBoolean(committed);
            out.writeInt(appendedTo.size());
            for (Segment segment : appendedTo) {
                out.writeUTF(segment.getScopedName());
            }
            out.writeInt(transactions.size());
            for (TransactionId transaction : transactions) {
                out.writeUTF(transaction.scope());
                out.writeUTF(transaction.stream());
                out.writeLong(transaction.id().getMostSignificantBits());
                out.writeLong(transaction.id().getLeastSignificantBits());
                out.writeInt(transaction.partition());
                out.writeLong(transaction.rows());
            }
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return ByteBuffer.wrap(bytes.toByteArray());
    }

    static EpochRecord fromBytes(ByteBuffer value) {
        byte[] bytes = new byte[value.remaining()];
        value.duplicate().get(bytes);
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            int format = in.readByte();
            if (format != FORMAT && format != FORMAT_OF_FIRST_RELEASE) {
                throw new PravegaException("an epoch record of format " + format + " is from a newer connector");
            }
            long epoch = in.readLong();
            boolean committed = in.readBoolean();
            int segments = in.readInt();
            List<Segment> appendedTo = new ArrayList<>(segments);
            for (int index = 0; index < segments; index++) {
                appendedTo.add(Segment.fromScopedName(in.readUTF()));
            }
            int count = in.readInt();
            List<TransactionId> transactions = new ArrayList<>(count);
            for (int index = 0; index < count; index++) {
                transactions.add(new TransactionId(in.readUTF(), in.readUTF(),
                        new UUID(in.readLong(), in.readLong()), in.readInt(), in.readLong()));
            }
            return new EpochRecord(epoch, committed, transactions, appendedTo);
        } catch (IOException broken) {
            throw new UncheckedIOException("an epoch record cannot be read", broken);
        }
    }
}
