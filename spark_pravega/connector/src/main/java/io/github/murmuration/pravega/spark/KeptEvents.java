package io.github.murmuration.pravega.spark;

import io.pravega.shared.protocol.netty.WireCommandType;
import io.pravega.shared.protocol.netty.WireCommands;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * What a task hands to the driver instead of writing it: the few events that it has for one segment of a stream.
 *
 * @param routingKeys of the events; null for one that has none
 */
record KeptEvents(String stream, List<String> routingKeys, List<byte[]> events) implements Serializable {
    /** What one append may hold: what goes over the wire at once, but for the command that it is in. */
    static final int MAX_BYTES = WireCommands.MAX_WIRECOMMAND_SIZE - 1024;
    private static final int HEADER_BYTES = 2 * Integer.BYTES;

    KeptEvents(String stream) {
        this(stream, new ArrayList<>(), new ArrayList<>());
    }

    void add(String routingKey, byte[] event) {
        routingKeys.add(routingKey);
        events.add(event);
    }

    boolean haveKeys() {
        return routingKeys.stream().anyMatch(Objects::nonNull);
    }

    /** Bytes that an event takes in its segment. */
    static int bytes(byte[] event) {
        return HEADER_BYTES + event.length;
    }

    /** The events of several tasks as they lie in a segment, ready to be read. */
    static ByteBuffer inSegment(List<KeptEvents> tasks) {
        int size = tasks.stream().flatMap(task -> task.events().stream()).mapToInt(KeptEvents::bytes).sum();
        ByteBuffer segment = ByteBuffer.allocate(size);
        tasks.forEach(task -> task.events().forEach(event -> put(segment, event)));
        return segment.flip();
    }

    /** One event as it lies in a segment. */
    static ByteBuffer inSegment(byte[] event) {
        return put(ByteBuffer.allocate(bytes(event)), event).flip();
    }

    private static ByteBuffer put(ByteBuffer segment, byte[] event) {
        return segment.putInt(WireCommandType.EVENT.getCode()).putInt(event.length).put(event);
    }
}
