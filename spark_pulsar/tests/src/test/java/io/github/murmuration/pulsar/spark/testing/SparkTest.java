// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark.testing;

import io.github.murmuration.spark.testing.SourceTest;

/** Tests of what is Pulsar's own. */
public abstract class SparkTest extends SourceTest {
    protected SparkTest() {
        super(PulsarStore.STORE);
    }
}
