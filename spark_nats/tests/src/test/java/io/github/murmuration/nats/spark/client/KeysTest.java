// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Keys are carried as other writers of a stream do. */
@Tag("core")
class KeysTest {
    @Test
    void aKeyThatIsTooLongForAHeaderIsNotKept() {
        assertEquals(32 << 10, Keys.header("x".repeat(32 << 10)).length());
        assertNull(Keys.header("x".repeat((32 << 10) + 1)));
        assertNull(Keys.header("鳥".repeat(4000)));
    }

    @Test
    void anEncodedKeyHasNeitherPlusNorSpace() {
        assertEquals("a%20b%2Bc", Keys.encode("a b+c"));
        assertEquals("%E9%B3%A5", Keys.encode("鳥"));
        assertEquals("plain-Key_1.0", Keys.encode("plain-Key_1.0"));
        assertEquals("a b+c", Keys.decode("a+b%2Bc"));
    }
}
