// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.client;

import io.pravega.client.connection.impl.ConnectionPool;
import io.pravega.client.control.impl.Controller;
import io.pravega.client.tables.KeyValueTable;
import io.pravega.client.tables.KeyValueTableClientConfiguration;
import io.pravega.client.tables.KeyValueTableConfiguration;
import io.pravega.client.tables.impl.KeyValueTableFactoryImpl;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The key-value tables of a cluster, each opened once. */
public final class KeyValueTables {
    private final Controller controller;
    private final ConnectionPool pool;
    private final Map<String, KeyValueTable> tables = new ConcurrentHashMap<>();

    KeyValueTables(Controller controller, ConnectionPool pool) {
        this.controller = controller;
        this.pool = pool;
    }

    /** A table of fixed-length keys, created if it does not exist. */
    public KeyValueTable open(String scope, String name, int keyLength) {
        return tables.computeIfAbsent(scope + "/" + name, ignored -> {
            Waiting.on(controller.createKeyValueTable(scope, name, KeyValueTableConfiguration.builder()
                    .partitionCount(1).primaryKeyLength(keyLength).secondaryKeyLength(0).build()));
            return new KeyValueTableFactoryImpl(scope, TablePermissions.of(controller), pool)
                    .forKeyValueTable(name, KeyValueTableClientConfiguration.builder().build());
        });
    }

    public void delete(String scope, String name) {
        Optional.ofNullable(tables.remove(scope + "/" + name)).ifPresent(KeyValueTable::close);
        Waiting.on(controller.deleteKeyValueTable(scope, name));
    }

    void close() {
        tables.values().forEach(KeyValueTable::close);
    }
}
