// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.client.Connections;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What no stream can do: each is refused, says why and names the way out, and leaves the stream as it was. */
class CatalogRefusalsTest extends CatalogsTest {
    private String stream;

    @BeforeEach
    void create() {
        stream = stream(1);
        append(stream, 0, 5);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "DROP TABLE $ | PURGE",
        "CREATE OR REPLACE TABLE $ | PURGE",
        "ALTER TABLE $ RENAME TO test.other | INSERT INTO",
        "ALTER TABLE $ ADD COLUMN more STRING | SET TBLPROPERTIES",
        "ALTER TABLE $ SET TBLPROPERTIES (exactly_once = 'false') | default_num_segments",
        "ALTER TABLE $ SET TBLPROPERTIES (default_num_segments = 'many') | not a number",
        "COMMENT ON TABLE $ IS 'events' | no property comment",
        "INSERT OVERWRITE $ SELECT 'x' AS event | TRUNCATE TABLE",
        "INSERT INTO $ VALUES ('x') | AS event",
        "INSERT INTO $ SELECT 1 AS event | not string or binary",
        "DELETE FROM $ WHERE offset < 10 | does not support deletes",
        "UPDATE $ SET event = binary('x') | UPDATE TABLE",
        "CREATE TABLE $ | already exists",
    })
    void ofAnExistingTable(String statement, String answer) {
        assertRefused(() -> sql(statement.replace("$", table(stream))), answer);
        assertEquals(range(0, 5), numbers(stream));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
        "CREATE TABLE pravega.test.never (value STRING) | the column event is missing",
        "CREATE TABLE pravega.test.never (event STRING, value INT) | no column value int",
        "CREATE TABLE pravega.test.never (event INT) | not string or binary",
        "CREATE TABLE pravega.test.never (event BINARY, offset INT) | no column offset int",
        "CREATE TABLE pravega.test.never (event BINARY, stream STRING) PARTITIONED BY (stream) | default_num_segments",
        "CREATE TABLE pravega.test.never USING kafka | not of kafka",
        "CREATE TABLE pravega.test.never COMMENT 'events' | no property comment",
        "CREATE TABLE pravega.test.never LOCATION '/somewhere' | no property location",
        "CREATE TABLE pravega.test.never OPTIONS (exactly_once = 'false') | given to the catalog",
        "CREATE TABLE pravega.test.never TBLPROPERTIES (default_num_segments = 0) | must be positive",
        "CREATE TABLE pravega.test._never | letters, digits",
        "CREATE TABLE pravega.nowhere.never | nowhere",
        "CREATE NAMESPACE pravega.a_scope | letters, digits",
        "CREATE NAMESPACE pravega.one.two | scopes hold no scopes",
        "CREATE NAMESPACE pravega.commented COMMENT 'x' | no properties",
        "CREATE NAMESPACE pravega.test | already exists",
        "ALTER NAMESPACE pravega.test SET PROPERTIES (a = 'b') | no properties",
        "DROP NAMESPACE pravega.nowhere | nowhere",
        "DROP NAMESPACE pravega.test | DROP TABLE ... PURGE",
        "DROP NAMESPACE pravega.test CASCADE | DROP TABLE ... PURGE",
        "DROP TABLE pravega.test.never PURGE | never",
        "SHOW TABLES IN pravega.nowhere | nowhere",
        "SELECT * FROM pravega.nowhere.never | never",
        "SELECT * FROM pravega.test.never | never",
        "SELECT * FROM tail.never | never",
        "SELECT * FROM pravega.test._MARKnever | _MARKnever",
        "INSERT INTO pravega.test.never SELECT 'x' AS event | never",
    })
    void ofAnAbsentTable(String statement, String answer) {
        assertRefused(() -> sql(statement), answer);
        assertFalse(streams().checkStreamExists(SCOPE, "never"));
    }

    @Test
    void internalStreamsAreNoTables() {
        String internal = "pravega.test.`_MARK" + stream + "`";
        assertTrue(streams().checkStreamExists(SCOPE, "_MARK" + stream));
        assertRefused(() -> sql("SELECT * FROM " + internal), "_MARK");
        assertRefused(() -> sql("DROP TABLE " + internal + " PURGE"), "_MARK");
    }

    @Test
    void framesOverwriteNothing() {
        assertRefused(() -> rows().writeTo(table(stream)).overwrite(functions.lit(true)), "TRUNCATE TABLE");
        assertRefused(() -> rows().writeTo(table(stream)).overwrite(functions.expr("offset < 10")), "overwrite");
        assertRefused(() -> rows().writeTo(table(stream)).overwritePartitions(), "overwrite");
        assertRefused(() -> rows().writeTo(table(stream)).createOrReplace(), "PURGE");
        assertRefused(() -> rows().write().mode("overwrite").saveAsTable(table(stream)), "PURGE");
        assertRefused(() -> rows().write().mode("overwrite").insertInto(table(stream)), "TRUNCATE TABLE");
        assertEquals(range(0, 5), numbers(stream));
    }

    @Test
    void aSealedStreamIsNotTruncated() {
        streams().sealStream(SCOPE, stream);
        assertRefused(() -> sql("TRUNCATE TABLE " + table(stream)), "PURGE");
        assertEquals(range(0, 5), numbers(stream));
    }

    @Test
    void aCatalogIsNotOfOneStream() {
        catalog("single", "stream", stream);
        assertRefused(() -> sql("SHOW NAMESPACES IN single"), "every stream as a table");
    }

    @Test
    void whatIsLeftInAScopeIsNamed() {
        sql("CREATE NAMESPACE pravega.occupied");
        try (Connections.Lease lease = Connections.lease(connection())) {
            lease.connection().tables().open("occupied", "somebodys-table", 8);
            assertRefused(() -> sql("DROP NAMESPACE pravega.occupied"), "somebodys-table");
            lease.connection().tables().delete("occupied", "somebodys-table");
        }
        sql("DROP NAMESPACE pravega.occupied");
    }

    private Dataset<Row> rows() {
        return events(stream, 5, 6).drop("stream");
    }
}
