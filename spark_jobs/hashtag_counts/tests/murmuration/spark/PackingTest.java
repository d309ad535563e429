package murmuration.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class PackingTest {
    @Test
    void whatIsPackedIsReadAgainWhateverTheCapacity() {
        String text = "türkiye 日本 😀\0".repeat(1000);
        for (int capacity : new int[] {0, 1, 65, 1 << 20}) {
            Packing packing = new Packing(capacity).putByte((byte) -1).putInt(-2).putLong(Long.MIN_VALUE).putText(text);
            byte[] packed = packing.putText("").putBytes(new byte[] {3, 4}).toBytes();
            assertEquals(packing.size(), packed.length);
            ByteBuffer bytes = ByteBuffer.wrap(packed);
            assertEquals(-1, bytes.get());
            assertEquals(-2, bytes.getInt());
            assertEquals(Long.MIN_VALUE, bytes.getLong());
            assertEquals(text, Packing.text(bytes));
            assertEquals("", Packing.text(bytes));
            assertArrayEquals(new byte[] {3, 4}, Packing.rest(bytes));
            assertEquals(0, bytes.remaining());
        }
    }
}
