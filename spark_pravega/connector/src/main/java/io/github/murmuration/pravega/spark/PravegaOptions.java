// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark;

import io.github.murmuration.pravega.spark.read.plan.StreamBound;
import io.github.murmuration.pravega.spark.write.epoch.BatchVersion;
import io.github.murmuration.pravega.spark.write.epoch.UnknownEpoch;
import io.pravega.client.ClientConfig;
import io.pravega.client.stream.RetentionPolicy;
import io.pravega.client.stream.ScalingPolicy;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.StreamConfiguration;
import io.pravega.shared.security.auth.Credentials;
import java.io.Serializable;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The options of one read or write, typed. Names and defaults are the official connector's where it has them. */
public final class PravegaOptions implements Serializable {
    private static final long serialVersionUID = 1L;

    static final String CONTROLLER = "controller";
    static final String AUTH_METHOD = "auth_method";
    /** Spark takes a name with "token" in it for a secret, and shows its value in no plan. */
    static final String AUTH_TOKEN = "auth_token";
    static final String TRUST_STORE = "trust_store";
    static final String VALIDATE_HOST_NAME = "validate_host_name";
    static final String SCOPE = "scope";
    static final String STREAM = "stream";
    public static final String ALLOW_CREATE_SCOPE = "allow_create_scope";
    public static final String ALLOW_CREATE_STREAM = "allow_create_stream";
    static final String DEFAULT_NUM_SEGMENTS = "default_num_segments";
    static final String DEFAULT_SCALE_FACTOR = "default_scale_factor";
    static final String DEFAULT_SEGMENT_TARGET_BYTES = "default_segment_target_rate_bytes_per_sec";
    static final String DEFAULT_SEGMENT_TARGET_EVENTS = "default_segment_target_rate_events_per_sec";
    static final String DEFAULT_RETENTION_MILLISECONDS = "default_retention_duration_milliseconds";
    static final String DEFAULT_RETENTION_BYTES = "default_retention_size_bytes";
    public static final String START_STREAM_CUT = "start_stream_cut";
    public static final String END_STREAM_CUT = "end_stream_cut";
    public static final String MAX_EVENTS_PER_TRIGGER = "max_events_per_trigger";
    public static final String MAX_BYTES_PER_TRIGGER = "max_bytes_per_trigger";
    /** The official connector's name of the same. */
    static final String APPROX_BYTES_PER_TRIGGER = "approx_bytes_per_trigger";
    static final String FAIL_ON_DATA_LOSS = "fail_on_data_loss";
    public static final String EXACTLY_ONCE = "exactly_once";
    static final String READ_AFTER_WRITE_CONSISTENCY = "read_after_write_consistency";
    public static final String TRANSACTION_TIMEOUT_MS = "transaction_timeout_ms";
    static final String TRANSACTION_STATUS_POLL_INTERVAL_MS = "transaction_status_poll_interval_ms";
    public static final String ON_UNKNOWN_EPOCH = "on_unknown_epoch";
    public static final String TXN_APP_ID = "txn_app_id";
    public static final String TXN_VERSION = "txn_version";
    static final String METADATA = "metadata";

    private static final Set<String> KNOWN = Set.of(
            CONTROLLER, AUTH_METHOD, AUTH_TOKEN, TRUST_STORE, VALIDATE_HOST_NAME, SCOPE, STREAM, ALLOW_CREATE_SCOPE,
            ALLOW_CREATE_STREAM, DEFAULT_NUM_SEGMENTS, DEFAULT_SCALE_FACTOR, DEFAULT_SEGMENT_TARGET_BYTES,
            DEFAULT_SEGMENT_TARGET_EVENTS, DEFAULT_RETENTION_MILLISECONDS, DEFAULT_RETENTION_BYTES, START_STREAM_CUT,
            END_STREAM_CUT, MAX_EVENTS_PER_TRIGGER, MAX_BYTES_PER_TRIGGER, APPROX_BYTES_PER_TRIGGER,
            FAIL_ON_DATA_LOSS, EXACTLY_ONCE, READ_AFTER_WRITE_CONSISTENCY, TRANSACTION_TIMEOUT_MS,
            TRANSACTION_STATUS_POLL_INTERVAL_MS, ON_UNKNOWN_EPOCH, TXN_APP_ID, TXN_VERSION, METADATA);

    /** Spark's own, which it hands on; the last two are what it keeps of a table beside its options. */
    private static final Set<String> OF_SPARK = Set.of(
            "path", "paths", "asyncprogresstrackingenabled", "checkpointlocation", "queryname",
            TableCatalog.PROP_PROVIDER, TableCatalog.PROP_OWNER);

    private static final Set<String> WARNED_OF = ConcurrentHashMap.newKeySet();
    private static final Logger LOG = LoggerFactory.getLogger(PravegaOptions.class);

    /** Pravega refuses shorter leases. */
    private static final long MIN_TRANSACTION_TIMEOUT_MS = 10_000;

    private final HashMap<String, String> values = new HashMap<>();

    public PravegaOptions(Map<String, String> options) {
        options.forEach((name, value) -> values.put(name.toLowerCase(Locale.ROOT), value));
        unknown().filter(WARNED_OF::add).forEach(name -> LOG.warn("the data source pravega has no option {}", name));
    }

    /** These options and others, which win. */
    public PravegaOptions with(Map<String, String> others) {
        HashMap<String, String> merged = new HashMap<>(values);
        others.forEach((name, value) -> merged.put(name.toLowerCase(Locale.ROOT), value));
        return new PravegaOptions(merged);
    }

    /** Names of options that mean nothing here. Spark keeps a table's options twice, also with a prefix. */
    java.util.stream.Stream<String> unknown() {
        return values.keySet().stream().filter(name -> !KNOWN.contains(name) && !OF_SPARK.contains(name)
                && !name.startsWith(TableCatalog.OPTION_PREFIX));
    }

    String controller() {
        return text(CONTROLLER).orElse("tcp://localhost:9090");
    }

    /** Who gives no credentials here can give them as Pravega's client wants them, in the environment. */
    public ClientConfig clientConfig() {
        ClientConfig.ClientConfigBuilder config = ClientConfig.builder()
                .controllerURI(URI.create(controller())).validateHostName(flag(VALIDATE_HOST_NAME, true));
        text(TRUST_STORE).ifPresent(config::trustStore);
        if (text(AUTH_METHOD).isPresent() != text(AUTH_TOKEN).isPresent()) {
            throw new IllegalArgumentException("of " + AUTH_METHOD + " and " + AUTH_TOKEN + " one is missing");
        }
        text(AUTH_METHOD).ifPresent(method -> config.credentials(new GivenCredentials(method, required(AUTH_TOKEN))));
        return config.build();
    }

    /** What tells one connection from another. */
    public List<String> cluster() {
        return List.of(controller(), text(AUTH_METHOD).orElse(""), text(AUTH_TOKEN).orElse(""),
                text(TRUST_STORE).orElse(""), Boolean.toString(flag(VALIDATE_HOST_NAME, true)));
    }

    public String scope() {
        return required(SCOPE);
    }

    public Stream stream() {
        return Stream.of(scope(), required(STREAM));
    }

    /** The stream of every row; if there is none, each row names its own in the column {@code stream}. */
    public Optional<String> targetStream() {
        return text(STREAM);
    }

    public boolean allowCreateScope() {
        return flag(ALLOW_CREATE_SCOPE, true);
    }

    public boolean allowCreateStream() {
        return flag(ALLOW_CREATE_STREAM, true);
    }

    Optional<String> metadata() {
        return text(METADATA);
    }

    public StreamBound start(StreamBound otherwise) {
        return text(START_STREAM_CUT).map(value -> StreamBound.parse(START_STREAM_CUT, value)).orElse(otherwise);
    }

    /** @throws IllegalArgumentException if it is {@code earliest}, at which nothing can end */
    public StreamBound end(StreamBound otherwise) {
        StreamBound end = text(END_STREAM_CUT).map(value -> StreamBound.parse(END_STREAM_CUT, value)).orElse(otherwise);
        if (end == StreamBound.EARLIEST) {
            throw new IllegalArgumentException("end_stream_cut is 'earliest': nothing would be read");
        }
        return end;
    }

    /** What one micro-batch may read; all that there is, if no limit is given. */
    public ReadLimit readLimit() {
        OptionalLong events = positive(MAX_EVENTS_PER_TRIGGER);
        OptionalLong max = positive(MAX_BYTES_PER_TRIGGER);
        OptionalLong approximate = positive(APPROX_BYTES_PER_TRIGGER);
        refuseBoth(MAX_BYTES_PER_TRIGGER, max, APPROX_BYTES_PER_TRIGGER, approximate);
        OptionalLong bytes = max.isPresent() ? max : approximate;
        if (events.isPresent() && bytes.isPresent()) {
            return ReadLimit.compositeLimit(
                    new ReadLimit[] {ReadLimit.maxRows(events.getAsLong()), ReadLimit.maxBytes(bytes.getAsLong())});
        }
        if (events.isPresent()) {
            return ReadLimit.maxRows(events.getAsLong());
        }
        return bytes.isPresent() ? ReadLimit.maxBytes(bytes.getAsLong()) : ReadLimit.allAvailable();
    }

    /** Whether a read fails, or goes on with what is left, where truncation has removed what it was to read. */
    public boolean failOnDataLoss() {
        return flag(FAIL_ON_DATA_LOSS, true);
    }

    public boolean exactlyOnce() {
        return flag(EXACTLY_ONCE, true);
    }

    public boolean readAfterWrite() {
        return flag(READ_AFTER_WRITE_CONSISTENCY, true);
    }

    public long transactionTimeoutMs(long otherwise) {
        long timeout = positive(TRANSACTION_TIMEOUT_MS).orElse(otherwise);
        if (timeout < MIN_TRANSACTION_TIMEOUT_MS) {
            throw new IllegalArgumentException(
                    TRANSACTION_TIMEOUT_MS + " is " + timeout + ", Pravega's minimum is " + MIN_TRANSACTION_TIMEOUT_MS);
        }
        return timeout;
    }

    public long transactionStatusPollIntervalMs() {
        return positive(TRANSACTION_STATUS_POLL_INTERVAL_MS).orElse(50);
    }

    /** What to do with an epoch of which nobody can tell any more whether it is there. */
    public UnknownEpoch onUnknownEpoch() {
        return text(ON_UNKNOWN_EPOCH).map(value -> UnknownEpoch.parse(ON_UNKNOWN_EPOCH, value))
                .orElse(UnknownEpoch.FAIL);
    }

    /** What a batch write is known by when it is repeated. */
    public Optional<BatchVersion> batchVersion() {
        return BatchVersion.of(text(TXN_APP_ID), text(TXN_VERSION), exactlyOnce());
    }

    /** Configuration of a stream that is created because it does not exist yet. */
    public StreamConfiguration streamConfiguration() {
        StreamConfiguration.StreamConfigurationBuilder configuration =
                StreamConfiguration.builder().scalingPolicy(scalingPolicy());
        OptionalLong milliseconds = positive(DEFAULT_RETENTION_MILLISECONDS);
        OptionalLong bytes = positive(DEFAULT_RETENTION_BYTES);
        refuseBoth(DEFAULT_RETENTION_MILLISECONDS, milliseconds, DEFAULT_RETENTION_BYTES, bytes);
        milliseconds.ifPresent(
                duration -> configuration.retentionPolicy(RetentionPolicy.byTime(Duration.ofMillis(duration))));
        bytes.ifPresent(size -> configuration.retentionPolicy(RetentionPolicy.bySizeBytes(size)));
        return configuration.build();
    }

    private ScalingPolicy scalingPolicy() {
        int segments = Math.toIntExact(positive(DEFAULT_NUM_SEGMENTS).orElse(1));
        OptionalLong bytes = positive(DEFAULT_SEGMENT_TARGET_BYTES);
        OptionalLong events = positive(DEFAULT_SEGMENT_TARGET_EVENTS);
        refuseBoth(DEFAULT_SEGMENT_TARGET_BYTES, bytes, DEFAULT_SEGMENT_TARGET_EVENTS, events);
        int factor = Math.toIntExact(positive(DEFAULT_SCALE_FACTOR).orElse(2));
        if (bytes.isPresent()) {
            int kilobytes = Math.toIntExact(Math.max(1, bytes.getAsLong() / 1024));
            return ScalingPolicy.byDataRate(kilobytes, factor, segments);
        }
        if (events.isPresent()) {
            return ScalingPolicy.byEventRate(Math.toIntExact(events.getAsLong()), factor, segments);
        }
        return ScalingPolicy.fixed(segments);
    }

    private record GivenCredentials(String method, String token) implements Credentials {
        @Override
        public String getAuthenticationType() {
            return method;
        }

        @Override
        public String getAuthenticationToken() {
            return token;
        }

        @Override
        public String toString() {
            return method;
        }
    }

    private static void refuseBoth(String name, OptionalLong value, String otherName, OptionalLong otherValue) {
        if (value.isPresent() && otherValue.isPresent()) {
            throw new IllegalArgumentException("options " + name + " and " + otherName + " exclude each other");
        }
    }

    private Optional<String> text(String name) {
        return Optional.ofNullable(values.get(name)).map(String::trim).filter(value -> !value.isEmpty());
    }

    private String required(String name) {
        return text(name).orElseThrow(() -> new IllegalArgumentException("option " + name + " is missing"));
    }

    private OptionalLong positive(String name) {
        Optional<String> value = text(name);
        if (value.isEmpty()) {
            return OptionalLong.empty();
        }
        try {
            long number = Long.parseLong(value.get());
            if (number > 0) {
                return OptionalLong.of(number);
            }
        } catch (NumberFormatException notANumber) {
            throw new IllegalArgumentException("option " + name + " is not a number: " + value.get(), notANumber);
        }
        throw new IllegalArgumentException("option " + name + " must be positive, not " + value.get());
    }

    private boolean flag(String name, boolean otherwise) {
        return text(name).map(value -> switch (value.toLowerCase(Locale.ROOT)) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException("option " + name + " is neither true nor false: " + value);
        }).orElse(otherwise);
    }
}
