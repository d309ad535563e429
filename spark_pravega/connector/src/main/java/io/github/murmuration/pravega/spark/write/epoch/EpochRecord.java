// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.epoch;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.write.append.NamedSegments;
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
 * @param appendedTo the segments to which the epochs after this one are appended that need no transactions; none, if
 *     there was no such epoch. Those that hold a part of this one, if the transactions hold only the rest of it
 */
public record EpochRecord(
        long epoch, boolean committed, List<TransactionId> transactions, NamedSegments appendedTo) {
    /** What there is before the first. */
    public static final EpochRecord NONE = new EpochRecord(-1, true, List.of(), NamedSegments.NONE);

    /** As the one before, but epochs are told in segments in another way, which that release would not understand. */
    private static final int FORMAT = 2;
    private static final int FORMAT_OF_FIRST_RELEASE = 1;

    public EpochRecord(long epoch, List<TransactionId> transactions) {
        this(epoch, false, transactions, NamedSegments.NONE);
    }

    /** @throws PravegaException if {@code next} is an epoch before the recorded one */
    public void requireNotAfter(long next) {
        if (epoch > next) {
            throw PravegaException.setBack(epoch, next);
        }
    }

    EpochRecord asCommitted() {
        return new EpochRecord(epoch, true, transactions, NamedSegments.NONE);
    }

    ByteBuffer toBytes() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(FORMAT);
            out.writeLong(epoch);
            out.writeBoolean(committed);
            out.writeInt(appendedTo.segments().size());
            for (Segment segment : appendedTo.segments()) {
                out.writeUTF(segment.getScopedName());
            }
            out.writeBoolean(appendedTo.areSpread());
            for (double end : appendedTo.ends()) {
                out.writeDouble(end);
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
            NamedSegments appendedTo = readSegments(in, format);
            return new EpochRecord(epoch, committed, readTransactions(in), appendedTo);
        } catch (IOException broken) {
            throw new UncheckedIOException("an epoch record cannot be read", broken);
        }
    }

    private static NamedSegments readSegments(DataInputStream in, int format) throws IOException {
        int count = in.readInt();
        List<Segment> segments = new ArrayList<>(count);
        for (int index = 0; index < count; index++) {
            segments.add(Segment.fromScopedName(in.readUTF()));
        }
        List<Double> ends = new ArrayList<>(count);
        if (format != FORMAT_OF_FIRST_RELEASE && in.readBoolean()) {
            for (int index = 0; index < count; index++) {
                ends.add(in.readDouble());
            }
        }
        return new NamedSegments(segments, ends);
    }

    private static List<TransactionId> readTransactions(DataInputStream in) throws IOException {
        int count = in.readInt();
        List<TransactionId> transactions = new ArrayList<>(count);
        for (int index = 0; index < count; index++) {
            transactions.add(new TransactionId(in.readUTF(), in.readUTF(),
                    new UUID(in.readLong(), in.readLong()), in.readInt(), in.readLong()));
        }
        return transactions;
    }
}
