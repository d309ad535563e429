// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.client;

import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.PravegaOptions;
import io.pravega.client.ClientConfig;
import io.pravega.client.control.impl.Controller;
import io.pravega.client.control.impl.ControllerImpl;
import io.pravega.client.control.impl.ControllerImplConfig;
import io.pravega.client.stream.Stream;
import io.pravega.client.stream.impl.TxnSegments;
import io.pravega.common.util.RetriesExhaustedException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How long a lease the controller grants. It refuses a longer one at once, but Pravega's client takes that for a
 * failure that may pass, repeats the request for minutes and tells no one. So here a client asks that repeats nothing.
 */
public final class LeaseLimit {
    private static final Logger LOG = LoggerFactory.getLogger(LeaseLimit.class);
    private static final Pattern TOO_LARGE = Pattern.compile("lease value too large, max value is (\\d+)");
    private static final long ANSWER_LIMIT_MS = 10_000;

    private final ClientConfig config;
    private final ScheduledExecutorService executor;
    private final Set<Long> granted = ConcurrentHashMap.newKeySet();

    LeaseLimit(ClientConfig config, ScheduledExecutorService executor) {
        this.config = config;
        this.executor = executor;
    }

    /**
     * Begins a transaction and aborts it, unless it is known that so long a lease is granted.
     *
     * @throws PravegaException if it is not granted; no other failure counts, since whoever needs the lease meets it
     */
    public void require(Stream stream, long leaseMs) {
        if (granted.contains(leaseMs)) {
            return;
        }
        try (Controller controller = new ControllerImpl(ControllerImplConfig.builder().clientConfig(config)
                .retryAttempts(1).timeoutMillis(ANSWER_LIMIT_MS).build(), executor)) {
            TxnSegments begun = Waiting.on(controller.createTransaction(stream, leaseMs));
            granted.add(leaseMs);
            Waiting.on(controller.abortTransaction(stream, begun.getTxnId()));
        } catch (RuntimeException failed) {
            Matcher answer = TOO_LARGE.matcher(String.valueOf(failed.getMessage()));
            if (failed instanceof RetriesExhaustedException && answer.find()) {
                throw new PravegaException(PravegaOptions.TRANSACTION_TIMEOUT_MS + " is " + leaseMs
                        + ", and the controller grants no more than " + answer.group(1)
                        + ": lower it, or raise controller.transaction.lease.count.max there", failed);
            }
            LOG.debug("Whether a lease of {} ms is granted on {} is not known", leaseMs, stream, failed);
        }
    }
}
