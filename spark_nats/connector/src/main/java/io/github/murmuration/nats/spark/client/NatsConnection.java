// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.nats.spark.client;

import io.github.murmuration.nats.spark.NatsException;
import io.github.murmuration.spark.common.client.Leases;
import io.nats.client.AuthenticationException;
import io.nats.client.Connection;
import io.nats.client.ConnectionListener;
import io.nats.client.Consumer;
import io.nats.client.ErrorListener;
import io.nats.client.JetStreamOptions;
import io.nats.client.JetStreamStatusException;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A connection to NATS, which finds its servers again when they were away. */
public final class NatsConnection implements Leases.Connection, AutoCloseable {
    /** How long one answer may take: the commit of a large batch takes seconds on a slow disk. */
    public static final Duration ANSWER = Duration.ofSeconds(20);

    private static final Logger LOG = LoggerFactory.getLogger(NatsConnection.class);

    private final Connection client;
    private final String servers;

    private NatsConnection(Connection client, String servers) {
        this.client = client;
        this.servers = servers;
    }

    /**
     * @throws UnansweredException if no server answers
     * @throws NatsException if one does, and refuses
     */
    static NatsConnection open(String servers) {
        Log log = new Log();
        Options options = new Options.Builder()
                .servers(servers.trim().split("\\s*,\\s*"))
                .connectionName("spark")
                .connectionTimeout(Duration.ofSeconds(5))
                .maxReconnects(-1)
                .reconnectWait(Duration.ofMillis(100))
                .reconnectJitter(Duration.ofMillis(50))
                .writeQueuePushTimeout(ANSWER)
                .reportNoResponders()
                .useTimeoutException()
                .errorListener(log)
                .connectionListener(log)
                .build();
        try {
            return new NatsConnection(Nats.connect(options), servers);
        } catch (AuthenticationException refused) {
            throw new NatsException("NATS refuses a connection at " + shown(servers), refused);
        } catch (IOException failed) {
            throw new UnansweredException("no NATS server answers at " + shown(servers), failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new NatsException("interrupted while connecting to " + shown(servers), interrupted);
        }
    }

    public Connection client() {
        return client;
    }

    public JetStreamOptions patient() {
        return JetStreamOptions.builder().requestTimeout(ANSWER).build();
    }

    @Override
    public boolean isClosed() {
        return client.getStatus() == Connection.Status.CLOSED;
    }

    /** The answer, or an exception for {@link #await}. */
    public CompletableFuture<Message> send(String subject, Headers headers, byte[] payload) {
        try {
            return client.requestWithTimeout(subject, headers, payload, ANSWER);
        } catch (IllegalStateException lost) {
            return CompletableFuture.failedFuture(lost);
        }
    }

    /** @throws UnansweredException if the connection is lost */
    public void publish(String subject, Headers headers, byte[] payload) {
        try {
            client.publish(subject, headers, payload);
        } catch (IllegalStateException lost) {
            throw unanswered("to publish on " + subject, lost);
        }
    }

    public CompletableFuture<Message> send(String subject, String json) {
        return send(subject, null, json.getBytes(StandardCharsets.UTF_8));
    }

    /** @throws UnansweredException if there is none: whether the request was carried out is not known then */
    public Message await(CompletableFuture<Message> answer, String what) {
        try {
            return answer.get();
        } catch (ExecutionException failed) {
            Throwable cause = failed.getCause();
            if (cause instanceof JetStreamStatusException || cause instanceof TimeoutException
                    || cause instanceof IllegalStateException || cause instanceof CancellationException) {
                throw unanswered(what, cause);
            }
            throw new NatsException(what + " failed", cause);
        } catch (CancellationException cancelled) {
            throw unanswered(what, cancelled);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new NatsException("interrupted: " + what, interrupted);
        }
    }

    public UnansweredException unanswered(String what, Throwable cause) {
        return new UnansweredException(what + ": no answer from " + shown(servers), cause);
    }

    /** An address may hold a password. */
    private static String shown(String servers) {
        return servers.replaceAll("//[^/@,]*@", "//…@");
    }

    @Override
    public void close() {
        try {
            client.close();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static final class Log implements ErrorListener, ConnectionListener {
        @Override
        public void connectionEvent(Connection connection, Events event) {
            LOG.info("{}", event);
        }

        @Override
        public void errorOccurred(Connection connection, String error) {
            LOG.warn("{}", error);
        }

        @Override
        public void exceptionOccurred(Connection connection, Exception failure) {
            LOG.debug("connection to NATS", failure);
        }

        @Override
        public void slowConsumerDetected(Connection connection, Consumer consumer) {
            LOG.warn("messages come faster than they are taken");
        }
    }
}
