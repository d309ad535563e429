// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pulsar.spark;

import io.github.murmuration.spark.common.EventTable;
import java.util.Map;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The data source {@code pulsar}. */
public final class PulsarTableProvider implements TableProvider, DataSourceRegister {
    static final String SHORT_NAME = "pulsar";

    @Override
    public String shortName() {
        return SHORT_NAME;
    }

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return EventTable.SCHEMA;
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return new PulsarTable(new PulsarOptions(properties));
    }
}
