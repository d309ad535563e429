// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark;

import io.github.murmuration.pulsar.spark.read.PulsarSource;
import io.github.murmuration.pulsar.spark.write.PulsarSink;
import io.github.murmuration.spark.common.EventTable;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A stream of Pulsar as a table of events. */
public final class PulsarTable extends EventTable {
    private final PulsarOptions options;

    PulsarTable(PulsarOptions options) {
        this.options = options;
    }

    @Override
    public String name() {
        return options.description();
    }

    @Override
    protected PulsarSource source(CaseInsensitiveStringMap given) {
        return new PulsarSource(options.with(given));
    }

    @Override
    protected PulsarSink sink(LogicalWriteInfo info) {
        return new PulsarSink(options.with(info.options()), info.schema());
    }
}
