package murmuration.pravega;

import java.nio.ByteBuffer;

/** Memory outside of Java's heap, which Python copies to and from at once; an array it would copy byte by byte. */
final class Room {
    private ByteBuffer memory = ByteBuffer.allocateDirect(1 << 20);

    /** The first {@code bytes} bytes; what was laid there before stays, unless there were fewer so far. */
    ByteBuffer first(int bytes) {
        if (memory.capacity() < bytes) {
            memory = ByteBuffer.allocateDirect(bytes);
        }
        return memory.slice(0, bytes);
    }
}
