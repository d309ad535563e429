// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark;

import io.github.murmuration.pravega.spark.client.Waiting;
import io.github.murmuration.pravega.spark.write.PravegaWrite;
import io.github.murmuration.spark.common.write.EventColumns;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.StreamConfiguration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * A Pravega as a catalog of Spark: its scopes are namespaces, its streams tables.
 *
 * <p>The options of the catalog are those of every read, write and created stream, unless these give their own.
 */
public final class PravegaCatalog extends ScopeCatalog implements TableCatalog {
    private static final Set<String> WRITTEN = Set.of("event", "routing_key");
    private static final Set<String> OF_SPARK = Set.of(TableCatalog.PROP_OWNER, PROP_PROVIDER);

    @Override
    public Identifier[] listTables(String[] namespace) throws NoSuchNamespaceException {
        String scope = scope(namespace);
        return streams(scope).stream()
                .map(stream -> Identifier.of(new String[] {scope}, stream)).toArray(Identifier[]::new);
    }

    @Override
    public Table loadTable(Identifier table) throws NoSuchTableException {
        Stream stream = stream(table);
        return table(stream, ask(connection -> connection.metadata().configuration(stream)));
    }

    /**
     * Creates a stream. Columns, if there are any, are those of a read or those that a write takes, as of CREATE TABLE
     * ... AS SELECT.
     */
    @Override
    public Table createTable(Identifier table, TableInfo info)
            throws TableAlreadyExistsException, NoSuchNamespaceException {
        Stream stream = Stream.of(scope(table.namespace()), table.name());
        requireName(table.name());
        requireColumns(info.schema(), stream);
        if (info.partitions().length > 0) {
            throw new UnsupportedOperationException("a stream is not partitioned by columns but by routing keys: "
                    + PravegaOptions.DEFAULT_NUM_SEGMENTS + " tells into how many segments");
        }
        StreamConfiguration configuration = options().with(properties(info.properties())).streamConfiguration();
        boolean created = ask(connection -> Waiting.on(connection.controller().createStream(
                stream.getScope(), stream.getStreamName(), configuration)));
        if (!created) {
            throw new TableAlreadyExistsException(table);
        }
        return table(stream, configuration);
    }

    /** Changes the properties, which are how the stream scales and what it retains. */
    @Override
    public Table alterTable(Identifier table, TableChange... changes) throws NoSuchTableException {
        Stream stream = stream(table);
        return ask(connection -> {
            StreamConfiguration changed =
                    StreamProperties.changed(connection.metadata().configuration(stream), changes);
            Waiting.on(connection.controller().updateStream(stream.getScope(), stream.getStreamName(), changed));
            connection.targets().forget(stream);
            return table(stream, changed);
        });
    }

    @Override
    public boolean dropTable(Identifier table) {
        throw new UnsupportedOperationException("the stream " + table + " would be deleted with its events, for all "
                + "who read and write it: say so by DROP TABLE ... PURGE");
    }

    @Override
    public boolean purgeTable(Identifier table) {
        try {
            Stream stream = stream(table);
            return ask(connection -> {
                Waiting.on(connection.controller().sealStream(stream.getScope(), stream.getStreamName()));
                Waiting.on(connection.controller().deleteStream(stream.getScope(), stream.getStreamName()));
                connection.targets().forget(stream);
                return true;
            });
        } catch (NoSuchTableException absent) {
            return false;
        }
    }

    @Override
    public void renameTable(Identifier table, Identifier newName) {
        throw new UnsupportedOperationException("Pravega renames no stream: create " + newName
                + ", copy by INSERT INTO ... SELECT event, and drop " + table + " by DROP TABLE ... PURGE");
    }

    private Stream stream(Identifier table) throws NoSuchTableException {
        try {
            Stream stream = Stream.of(scope(table.namespace()), table.name());
            if (isName(table.name()) && ask(connection -> Waiting.on(connection.controller().checkStreamExists(
                    stream.getScope(), stream.getStreamName())))) {
                return stream;
            }
        } catch (NoSuchNamespaceException absent) {
            // A table without its namespace is one that does not exist.
        }
        throw new NoSuchTableException(table);
    }

    private Table table(Stream stream, StreamConfiguration configuration) {
        Map<String, String> properties = StreamProperties.of(configuration);
        properties.put(PROP_PROVIDER, PravegaTableProvider.SHORT_NAME);
        return new PravegaTable(options().with(Map.of(
                PravegaOptions.SCOPE, stream.getScope(), PravegaOptions.STREAM, stream.getStreamName())), properties);
    }

    /** Without what Spark adds: the owner, options once more, and its default format where none is named. */
    private static Map<String, String> properties(Map<String, String> given) {
        String format = given.getOrDefault(PROP_PROVIDER, PravegaTableProvider.SHORT_NAME);
        if (!format.equalsIgnoreCase(PravegaTableProvider.SHORT_NAME)
                && !format.equalsIgnoreCase(SQLConf.get().defaultDataSourceName())) {
            throw new IllegalArgumentException("tables of this catalog are streams of pravega, not of " + format);
        }
        Map<String, String> properties = new HashMap<>();
        given.forEach((name, value) -> {
            if (!OF_SPARK.contains(name) && !name.startsWith(OPTION_PREFIX)) {
                properties.put(StreamProperties.name(name), value);
            }
        });
        return properties;
    }

    private static void requireColumns(StructType columns, Stream stream) {
        if (columns.isEmpty()) {
            return;
        }
        // It refuses what no write takes.
        new EventColumns(columns, PravegaWrite.ROUTING_KEY, Optional.of(stream.getStreamName()));
        for (StructField column : columns.fields()) {
            String name = column.name().toLowerCase(Locale.ROOT);
            if (!WRITTEN.contains(name) && Arrays.stream(PravegaTable.SCHEMA.fields()).noneMatch(
                    known -> known.name().equals(name) && known.dataType().equals(column.dataType()))) {
                throw new IllegalArgumentException("a stream has no column " + column.name() + " "
                        + column.dataType().simpleString() + ": leave the columns out, they are "
                        + PravegaTable.SCHEMA.toDDL() + "; INSERT takes event and routing_key");
            }
        }
    }
}
