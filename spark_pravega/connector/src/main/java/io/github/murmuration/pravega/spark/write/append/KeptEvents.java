// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.append;

import io.pravega.shared.protocol.netty.WireCommandType;
import io.pravega.shared.protocol.netty.WireCommands;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What a task hands to the driver instead of writing it: the few events that it has for one stream.
 *
 * @param framed the events as they lie in a segment, one after the other
 * @param routingKeys of the events, null for one that has none; the list is null if none has one
 */
public record KeptEvents(String stream, byte[] framed, List<String> routingKeys) implements Serializable {
    /** What one append may hold: what goes over the wire at once, but for the command that it is in. */
    public static final int MAX_BYTES = WireCommands.MAX_WIRECOMMAND_SIZE - 1024;
    private static final int HEADER_BYTES = 2 * Integer.BYTES;

    public boolean haveKeys() {
        return routingKeys != null;
    }

    public Reader read() {
        return new Reader(this);
    }

    /** Bytes that an event takes in its segment. */
    public static int bytes(byte[] event) {
        return HEADER_BYTES + event.length;
    }

    /** Bytes that an event takes while it is kept. */
    public static int bytes(String routingKey, byte[] event) {
        return bytes(event) + (routingKey == null ? 0 : Character.BYTES * routingKey.length());
    }

    /** The events of several tasks as they lie in a segment, ready to be read. */
    public static ByteBuffer inSegment(List<KeptEvents> tasks) {
        ByteBuffer segment = ByteBuffer.allocate(tasks.stream().mapToInt(task -> task.framed.length).sum());
        tasks.forEach(task -> segment.put(task.framed));
        return segment.flip();
    }

    /** One event as it lies in a segment. */
    public static ByteBuffer framed(byte[] event) {
        return put(ByteBuffer.allocate(bytes(event)), event).flip();
    }

    /** Puts one event, as it lies in a segment, behind those that are there. */
    public static ByteBuffer put(ByteBuffer segment, byte[] event) {
        return segment.putInt(WireCommandType.EVENT.getCode()).putInt(event.length).put(event);
    }

    /** Collects the events of a task. */
    public static final class Builder {
        private final String stream;
        private ByteBuffer framed = ByteBuffer.allocate(1 << 10);
        private List<String> routingKeys;
        private int events;

        public Builder(String stream) {
            this.stream = stream;
        }

        public String stream() {
            return stream;
        }

        public void add(String routingKey, byte[] event) {
            if (framed.remaining() < bytes(event)) {
                int needed = framed.position() + bytes(event);
                framed = ByteBuffer.allocate(Math.max(needed, 2 * framed.capacity())).put(framed.flip());
            }
            put(framed, event);
            if (routingKey != null && routingKeys == null) {
                routingKeys = new ArrayList<>(Arrays.asList(new String[events]));
            }
            if (routingKeys != null) {
                routingKeys.add(routingKey);
            }
            events++;
        }

        public KeptEvents build() {
            return new KeptEvents(stream, Arrays.copyOf(framed.array(), framed.position()), routingKeys);
        }
    }

    /** Goes through the events. */
    public static final class Reader {
        private final ByteBuffer framed;
        private final List<String> routingKeys;
        private int index = -1;
        private byte[] event;

        private Reader(KeptEvents kept) {
            framed = ByteBuffer.wrap(kept.framed);
            routingKeys = kept.routingKeys;
        }

        public boolean next() {
            if (!framed.hasRemaining()) {
                return false;
            }
            framed.getInt();
            event = new byte[framed.getInt()];
            framed.get(event);
            index++;
            return true;
        }

        public byte[] event() {
            return event;
        }

        public String routingKey() {
            return routingKeys == null ? null : routingKeys.get(index);
        }
    }
}
