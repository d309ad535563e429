// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark;

import java.util.Map;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The data source {@code pravega}. */
public final class PravegaTableProvider implements TableProvider, DataSourceRegister {
    static final String SHORT_NAME = "pravega";

    @Override
    public String shortName() {
        return SHORT_NAME;
    }

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return table(new PravegaOptions(options)).schema();
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return table(new PravegaOptions(properties));
    }

    @SuppressWarnings("deprecation") // Table.columns() is derived from it
    private static Table table(PravegaOptions options) {
        return options.metadata()
                .<Table>map(kind -> new MetadataTable(MetadataTable.Kind.of(kind), options))
                .orElseGet(() -> new PravegaTable(options, Map.of()));
    }
}
