// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** How the key of an event is carried: the same for all writers of a stream. */
public final class Keys {
    /** The header with the key, percent-encoded, since a header line holds no line breaks. */
    public static final String HEADER = "Key";

    /** Of an encoded key: JetStream takes 64 KiB of headers with a message. */
    private static final int MAX_KEPT_BYTES = 32 << 10;

    private Keys() {
    }

    /** For the header. Null for a key that is too long for it: that decides the partition, and is not kept. */
    public static String header(String key) {
        String encoded = encode(key);
        return encoded.length() <= MAX_KEPT_BYTES ? encoded : null;
    }

    /** Percent-encoded, a space as {@code %20}: so both kinds of decoders, with and without {@code +}, read it. */
    static String encode(String key) {
        return isPlain(key) ? key : URLEncoder.encode(key, StandardCharsets.UTF_8).replace("+", "%20");
    }

    public static String decode(String header) {
        return isPlain(header) ? header : URLDecoder.decode(header, StandardCharsets.UTF_8);
    }

    private static boolean isPlain(String text) {
        for (int index = 0; index < text.length(); index++) {
            char each = text.charAt(index);
            boolean plain = each >= 'a' && each <= 'z' || each >= 'A' && each <= 'Z' || each >= '0' && each <= '9'
                    || each == '-' || each == '_' || each == '.';
            if (!plain) {
                return false;
            }
        }
        return true;
    }
}
