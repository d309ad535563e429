// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.testing;

import io.github.murmuration.spark.testing.SourceTest;

/** Tests of what is NATS' own. */
public abstract class SparkTest extends SourceTest {
    protected SparkTest() {
        super(NatsStore.STORE);
    }
}
