// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark;

import io.github.murmuration.nats.spark.read.NatsSource;
import io.github.murmuration.nats.spark.write.NatsSink;
import io.github.murmuration.spark.common.EventTable;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A stream of NATS as a table of events. */
public final class NatsTable extends EventTable {
    private final NatsOptions options;

    NatsTable(NatsOptions options) {
        this.options = options;
    }

    @Override
    public String name() {
        return options.description();
    }

    @Override
    protected NatsSource source(CaseInsensitiveStringMap given) {
        return new NatsSource(options.with(given));
    }

    @Override
    protected NatsSink sink(LogicalWriteInfo info) {
        return new NatsSink(options.with(info.options()), info.queryId(), info.schema());
    }
}
