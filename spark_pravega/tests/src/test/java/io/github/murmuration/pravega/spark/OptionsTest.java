// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.murmuration.spark.testing.LocalSpark;
import io.pravega.client.ClientConfig;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What options mean and which are refused; no server is asked. */
@Tag("core")
class OptionsTest {
    @Test
    void credentialsAndTrustReachTheClient() {
        ClientConfig config = options(Map.of(
                "controller", "tls://pravega.example:9090", "auth_method", "Basic", "auth_token", "c2VjcmV0",
                "trust_store", "/etc/pravega/ca.pem", "validate_host_name", "false")).clientConfig();

        assertEquals("Basic", config.getCredentials().getAuthenticationType());
        assertEquals("c2VjcmV0", config.getCredentials().getAuthenticationToken());
        assertEquals("/etc/pravega/ca.pem", config.getTrustStore());
        assertFalse(config.isValidateHostName());
        assertTrue(config.isEnableTlsToController());
    }

    @Test
    void halfACredentialIsRefused() {
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class, () -> options(Map.of("auth_method", "Basic")).clientConfig());
        assertTrue(refused.getMessage().contains("auth_token"), refused::getMessage);
    }

    @Test
    void noSecretIsShown() {
        Dataset<Row> events = LocalSpark.create().read().format("pravega").option("scope", "s").option("stream", "t")
                .option("auth_method", "Basic").option("auth_token", "c2VjcmV0").load();

        String plan = events.queryExecution().optimizedPlan().toString();
        assertTrue(plan.contains("pravega"), plan);
        assertFalse(plan.contains("c2VjcmV0"), plan);
        assertFalse(options(Map.of("auth_method", "Basic", "auth_token", "c2VjcmV0")).clientConfig().toString()
                .contains("c2VjcmV0"));
    }

    @Test
    void connectionsAreSharedByThoseWhoGiveTheSame() {
        PravegaOptions plain = options(Map.of("controller", "tcp://one:9090"));
        assertEquals(plain.cluster(), options(Map.of("Controller", "tcp://one:9090", "stream", "t")).cluster());
        assertEquals(options(Map.of()).cluster(), options(Map.of("controller", "tcp://localhost:9090")).cluster());
        assertNotEquals(plain.cluster(), options(Map.of(
                "controller", "tcp://one:9090", "auth_method", "Basic", "auth_token", "x")).cluster());
    }

    @Test
    void unknownOptionsAreTold() {
        PravegaOptions options =
                options(Map.of("start_streamcut", "earliest", "checkpointLocation", "/c", "path", "p"));
        assertEquals(List.of("start_streamcut"), options.unknown().toList());
    }

    @Test
    void optionsThatDoNothingAreTold() {
        Set<String> given =
                Set.of("Max_Events_Per_Trigger", "exactly_once", "scope", "on_unknown_epoch", "txn_version");
        assertEquals(List.of("exactly_once", "max_events_per_trigger", "on_unknown_epoch", "txn_version"),
                OptionUse.BATCH_READ.useless(given).toList());
        assertEquals(List.of("exactly_once", "on_unknown_epoch", "txn_version"),
                OptionUse.STREAMING_READ.useless(given).toList());
        assertEquals(List.of("max_events_per_trigger"), OptionUse.BATCH_WRITE.useless(given).toList());
        assertEquals(List.of("max_events_per_trigger", "txn_version"),
                OptionUse.STREAMING_WRITE.useless(given).toList());
    }

    @Test
    void theOfficialNameOfTheLimitInBytesMeansTheSame() {
        assertEquals(ReadLimit.maxBytes(7), options(Map.of("approx_bytes_per_trigger", "7")).readLimit());
        assertThrows(IllegalArgumentException.class, () -> options(
                Map.of("approx_bytes_per_trigger", "7", "max_bytes_per_trigger", "7")).readLimit());
    }

    @Test
    void contradictoryOptionsAreNamed() {
        PravegaOptions both = options(Map.of(
                "default_retention_duration_milliseconds", "1000", "default_retention_size_bytes", "1000"));
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, both::streamConfiguration);
        assertTrue(refused.getMessage().contains("default_retention_size_bytes"), refused::getMessage);
    }

    /** Options of a write, in pairs. */
    @ParameterizedTest
    @CsvSource({
        "txn_app_id a, of txn_app_id and txn_version one is missing",
        "txn_version 1, of txn_app_id and txn_version one is missing",
        "txn_app_id a txn_version 1 exactly_once false, txn_app_id and exactly_once=false exclude each other",
        "txn_app_id a txn_version -1, option txn_version is -1",
        "txn_app_id a txn_version first, option txn_version is first",
    })
    void versionsOfABatchThatMeanNothingAreRefused(String given, String answer) {
        DataFrameWriter<Row> writer = LocalSpark.create().range(1).selectExpr("string(id) AS event").write()
                .format("pravega").mode("append").option("scope", "s").option("stream", "t");
        String[] options = given.split(" ");
        for (int index = 0; index < options.length; index += 2) {
            writer.option(options[index], options[index + 1]);
        }
        String refused = assertThrows(IllegalArgumentException.class, writer::save).getMessage();
        assertTrue(refused.contains(answer), refused);
    }

    private static PravegaOptions options(Map<String, String> given) {
        Map<String, String> options = new HashMap<>(Map.of("scope", "s"));
        options.putAll(given);
        return new PravegaOptions(options);
    }
}
