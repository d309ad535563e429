package murmuration.spark;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Packs values into bytes: numbers big-endian, texts as UTF-8 after its length in bytes. A ByteBuffer reads them. */
final class Packing {
    private ByteBuffer bytes;

    Packing(int capacity) {
        bytes = ByteBuffer.allocate(Math.max(capacity, 64));
    }

    Packing putByte(byte value) {
        room(Byte.BYTES).put(value);
        return this;
    }

    Packing putInt(int value) {
        room(Integer.BYTES).putInt(value);
        return this;
    }

    Packing putLong(long value) {
        room(Long.BYTES).putLong(value);
        return this;
    }

    Packing putText(String text) {
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        room(Integer.BYTES + encoded.length).putInt(encoded.length).put(encoded);
        return this;
    }

    Packing putBytes(byte[] value) {
        room(value.length).put(value);
        return this;
    }

    int size() {
        return bytes.position();
    }

    byte[] toBytes() {
        return Arrays.copyOf(bytes.array(), bytes.position());
    }

    static String text(ByteBuffer packed) {
        int length = packed.getInt();
        int at = packed.position();
        packed.position(at + length);
        return new String(packed.array(), at, length, StandardCharsets.UTF_8);
    }

    /** All bytes that are left. */
    static byte[] rest(ByteBuffer packed) {
        byte[] rest = new byte[packed.remaining()];
        packed.get(rest);
        return rest;
    }

    private ByteBuffer room(int size) {
        if (bytes.remaining() < size) {
            int needed = Math.addExact(bytes.position(), size);
            bytes = ByteBuffer.allocate(Math.max(needed, 2 * bytes.capacity())).put(bytes.flip());
        }
        return bytes;
    }
}
