// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark;

import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.BeforeAll;

/** The catalogs of the tests: of one Pravega, with different options. */
abstract class CatalogsTest extends SparkTest {
    protected static final String TOKEN = "c2VjcmV0";

    @BeforeAll
    protected static void configure() {
        catalog("pravega");
        catalog("limited", "scope", SCOPE, "default_num_segments", "2");
        catalog("tail", "start_stream_cut", "latest");
        catalog("secretive", "auth_method", "Basic", "auth_token", TOKEN);
    }

    protected static void catalog(String name, String... options) {
        String prefix = "spark.sql.catalog." + name;
        spark().conf().set(prefix, PravegaCatalog.class.getName());
        spark().conf().set(prefix + ".controller", DurablePravega.controllerUri());
        for (int at = 0; at < options.length; at += 2) {
            spark().conf().set(prefix + "." + options[at], options[at + 1]);
        }
    }

    protected static Dataset<Row> sql(String statement) {
        return spark().sql(statement);
    }

    protected static String table(String stream) {
        return "pravega." + SCOPE + ".`" + stream + "`";
    }

    protected static List<String> column(Dataset<Row> rows, int index) {
        return rows.select(rows.columns()[index]).as(Encoders.STRING()).collectAsList();
    }
}
