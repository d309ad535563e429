// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.pravega.spark.testing.CapturedLog;
import io.github.murmuration.pravega.spark.testing.SparkTest;
import io.github.murmuration.pravega.spark.testing.server.DurablePravega;
import io.github.murmuration.pravega.spark.testing.server.PasswordsAndTls;
import io.github.murmuration.pravega.spark.testing.server.PravegaServer;
import io.pravega.client.ClientConfig;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A Pravega that asks for a password and speaks TLS alone. Each way of reading and writing opens connections of its
 * own, so each could forget the credentials, or show them: in a log, in a plan, in an exception.
 */
class SecuredServerTest extends SparkTest {
    private static final int PORT = DurablePravega.PORT + PravegaServer.PORTS;
    private static final Path DIR = DurablePravega.DIR.resolveSibling("secured-pravega");
    private static final String PASSWORD = "correct-horse-battery-staple";
    private static final PasswordsAndTls SECURITY = new PasswordsAndTls("spark", PASSWORD, SCOPE);
    private static PravegaServer server;

    @TempDir
    Path checkpoint;

    private CapturedLog log;

    @BeforeAll
    static void start() {
        server = new PravegaServer(PORT, DIR, SECURITY).started(ClientConfig.builder()
                .controllerURI(URI.create(controllerUri()))
                .trustStore(PasswordsAndTls.certificate(DIR).toString())
                .credentials(PasswordsAndTls.admin()).build(), SCOPE);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void listen() {
        log = new CapturedLog();
    }

    @AfterEach
    void noSecretIsLogged() {
        log.close();
        assertTrue(log.text().contains("io.pravega.client"), log::text);
        assertShowsNoSecret(log.text());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aBatchIsWrittenAndRead(boolean exactlyOnce) {
        String stream = "batch-" + exactlyOnce;
        write(stream, options(), exactlyOnce);
        assertEquals(range(0, 100), numbers(load(stream)));
        assertEquals(1, spark().read().format("pravega").options(options()).option("metadata", "Streams").load()
                .where("stream_name = '" + stream + "'").count());
    }

    /** Into one segment by one append, into two in transactions. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aQueryCopiesAStream(int segments) throws Exception {
        String source = "source-" + segments;
        String target = "target-" + segments;
        write(source, options(), true);
        StreamingQuery query = spark().readStream().format("pravega").options(options()).option("stream", source)
                .option("start_stream_cut", "earliest").option("max_events_per_trigger", 40).load().select("event")
                .writeStream().format("pravega").options(options()).option("stream", target)
                .option("default_num_segments", segments).option("checkpointLocation", checkpoint.toString()).start();
        query.processAllAvailable();
        assertShowsNoSecret(printed(() -> query.explain(true)));
        assertShowsNoSecret(query.lastProgress().json());
        query.stop();
        assertEquals(range(0, 100), numbers(load(target)));
    }

    @Test
    void noPlanShowsTheSecret() {
        write("planned", options(), true);
        for (String mode : List.of("extended", "formatted", "codegen", "cost")) {
            String plan = printed(() -> load("planned").explain(mode));
            assertTrue(plan.contains("pravega"), plan);
            assertShowsNoSecret(plan);
        }
        assertShowsNoSecret(load("planned").queryExecution().toString());
    }

    @Test
    void aCatalogIsLetIn() {
        spark().conf().set("spark.sql.catalog.secured", PravegaCatalog.class.getName());
        options().forEach((name, value) -> spark().conf().set("spark.sql.catalog.secured." + name, value));
        spark().sql("CREATE TABLE secured.tabled");
        spark().sql("INSERT INTO secured.tabled SELECT concat('event-', id) AS event FROM range(5)");
        assertEquals(range(0, 5), numbers(spark().table("secured.tabled")));
        assertEquals(1, spark().sql("SHOW TABLES IN secured").where("tableName = 'tabled'").count());
        spark().sql("ALTER TABLE secured.tabled SET TBLPROPERTIES (default_retention_size_bytes = 1000000)");
        spark().sql("TRUNCATE TABLE secured.tabled");
        spark().sql("DROP TABLE secured.tabled PURGE");
        assertEquals(0, spark().sql("SHOW TABLES IN secured").where("tableName = 'tabled'").count());
    }

    @Test
    void aWrongPasswordIsAClearError() {
        Map<String, String> wrong = options();
        wrong.put("auth_token", new PasswordsAndTls(SECURITY.user(), "wrong-" + PASSWORD, SCOPE).token());
        assertRefused(wrong);
    }

    @Test
    void aScopeWithoutPermissionIsAClearError() {
        Map<String, String> elsewhere = options();
        elsewhere.put("scope", "elsewhere");
        assertRefused(elsewhere);
    }

    @Test
    void missingCredentialsAreAClearError() {
        Map<String, String> none = options();
        none.remove("auth_method");
        none.remove("auth_token");
        assertRefused(none);
    }

    /** Only after the client's patience with a server that is down, about two minutes: to it this looks like one. */
    @Test
    void anUntrustedCertificateIsAClearError() {
        Map<String, String> untrusting = options();
        untrusting.remove("trust_store");
        assertRefusal("trust_store", Duration.ofMinutes(5), () -> load("refused", untrusting).count());
    }

    /** At once, rather than after the client's patience with a server that is down. */
    private static void assertRefused(Map<String, String> options) {
        for (boolean exactlyOnce : List.of(true, false)) {
            assertRefusal("auth_token", Duration.ofSeconds(30), () -> write("refused", options, exactlyOnce));
        }
        assertRefusal("auth_token", Duration.ofSeconds(30), () -> load("refused", options).count());
    }

    private static void assertRefusal(String option, Duration patience, Runnable attempt) {
        Throwable failure = assertTimeoutPreemptively(patience, () -> assertThrows(Throwable.class, attempt::run));
        List<String> messages = new ArrayList<>();
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            messages.add(String.valueOf(cause.getMessage()));
        }
        assertTrue(messages.stream().anyMatch(message -> message.contains(option)), messages::toString);
        StringWriter trace = new StringWriter();
        failure.printStackTrace(new PrintWriter(trace));
        assertShowsNoSecret(trace.toString());
    }

    private static void assertShowsNoSecret(String text) {
        assertFalse(text.contains(SECURITY.token().substring(0, 20)), text);
        assertFalse(text.contains(PASSWORD), text);
    }

    private static String printed(Runnable task) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream screen = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        scala.Console$.MODULE$.withOut(screen, () -> {
            task.run();
            return null;
        });
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private static void write(String stream, Map<String, String> options, boolean exactlyOnce) {
        events(stream, 0, 100).write().format("pravega").mode("append").options(options)
                .option("exactly_once", exactlyOnce).save();
    }

    private static Dataset<Row> load(String stream) {
        return load(stream, options());
    }

    private static Dataset<Row> load(String stream, Map<String, String> options) {
        return spark().read().format("pravega").options(options).option("stream", stream).load();
    }

    private static Map<String, String> options() {
        return new HashMap<>(Map.of(
                "controller", controllerUri(), "scope", SCOPE, "auth_method", "Basic", "auth_token", SECURITY.token(),
                "trust_store", PasswordsAndTls.certificate(DIR).toString()));
    }

    private static String controllerUri() {
        return SECURITY.scheme() + PravegaServer.controllerAddress(PORT);
    }
}
