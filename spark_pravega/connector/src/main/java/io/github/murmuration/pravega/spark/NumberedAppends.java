package io.github.murmuration.pravega.spark;

import io.github.murmuration.pravega.shaded.io.grpc.StatusRuntimeException;
import io.github.murmuration.pravega.shaded.io.netty.buffer.Unpooled;
import io.pravega.client.connection.impl.ConnectionPool;
import io.pravega.client.connection.impl.RawClient;
import io.pravega.client.control.impl.Controller;
import io.pravega.client.security.auth.DelegationTokenProvider;
import io.pravega.client.security.auth.DelegationTokenProviderFactory;
import io.pravega.client.segment.impl.Segment;
import io.pravega.shared.protocol.netty.Reply;
import io.pravega.shared.protocol.netty.Request;
import io.pravega.shared.protocol.netty.WireCommand;
import io.pravega.shared.protocol.netty.WireCommands;
import io.pravega.shared.security.auth.AccessOperation;
import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Appends to one segment under ascending numbers, each number once whatever happens.
 *
 * <p>The segment keeps the last number of every writer and replaces it in the same step as it appends, on condition
 * that it is the number that the writer saw; so Pravega's own writers survive a lost connection. Here the writer's id
 * outlives the process, and with it the numbers.
 */
final class NumberedAppends {
    private static final Logger LOG = LoggerFactory.getLogger(NumberedAppends.class);
    private static final int ATTEMPTS = 12;
    private static final long FIRST_PAUSE_MS = 100;
    private static final long LONGEST_PAUSE_MS = 10_000;

    private final Controller controller;
    private final ConnectionPool pool;
    private final Segment segment;
    private final UUID writer;
    private final DelegationTokenProvider token;
    private RawClient client;
    private String permission;
    /** The highest number that was appended under. */
    private long last;
    private long length;

    NumberedAppends(Controller controller, ConnectionPool pool, Segment segment, UUID writer) {
        this.controller = controller;
        this.pool = pool;
        this.segment = segment;
        this.writer = writer;
        token = DelegationTokenProviderFactory.create(controller, segment, AccessOperation.WRITE);
    }

    /**
     * Whether something was appended under this number or a higher one.
     *
     * @throws SegmentEndedException if the segment is gone
     */
    synchronized boolean reached(long number) {
        return retried(() -> {
            connect();
            return last >= number;
        });
    }

    /**
     * Appends all or nothing, unless it was done before; durable and readable on return.
     *
     * @throws SegmentEndedException if the segment is sealed or gone; then nothing was appended
     */
    synchronized void append(long number, ByteBuffer events) {
        retried(() -> {
            connect();
            while (last < number) {
                send(number, events);
            }
            return true;
        });
    }

    synchronized void close() {
        if (client != null) {
            client.close();
            client = null;
        }
    }

    private void connect() {
        if (client != null && !client.isClosed()) {
            return;
        }
        client = new RawClient(controller, pool, segment);
        permission = Waiting.on(token.retrieveToken());
        Reply reply = ask(id -> new WireCommands.SetupAppend(id, writer, segment.getScopedName(), permission));
        last = expect(WireCommands.AppendSetup.class, reply).getLastEventNumber();
        length = currentLength();
    }

    private long currentLength() {
        Reply reply = ask(id -> new WireCommands.GetStreamSegmentInfo(id, segment.getScopedName(), permission));
        return expect(WireCommands.StreamSegmentInfo.class, reply).getWriteOffset();
    }

    /** One attempt, which fails without effect if someone else has appended meanwhile. */
    private void send(long number, ByteBuffer events) {
        Reply reply = ask(id -> new WireCommands.ConditionalBlockEnd(
                writer, number, length, Unpooled.wrappedBuffer(events.duplicate()), id));
        if (reply instanceof WireCommands.ConditionalCheckFailed) {
            length = currentLength();
        } else {
            length = expect(WireCommands.DataAppended.class, reply).getCurrentSegmentWriteOffset();
            last = number;
        }
    }

    private <T extends Request & WireCommand> Reply ask(LongFunction<T> request) {
        long id = client.getFlow().getNextSequenceNumber();
        return Waiting.on(client.sendRequest(id, request.apply(id)));
    }

    private <T extends Reply> T expect(Class<T> type, Reply reply) {
        if (reply instanceof WireCommands.SegmentIsSealed || reply instanceof WireCommands.NoSuchSegment) {
            throw new SegmentEndedException(reply.toString());
        }
        if (reply instanceof WireCommands.AuthTokenCheckFailed refused && refused.isTokenExpired()) {
            token.signalTokenExpired();
        }
        if (!type.isInstance(reply)) {
            throw new PravegaException(segment.getScopedName() + ": " + reply);
        }
        return type.cast(reply);
    }

    /** After any failure it is unknown what was appended: the next attempt asks the segment. */
    private boolean retried(BooleanSupplier task) {
        long pauseMs = FIRST_PAUSE_MS;
        for (int attempt = 1; ; attempt++) {
            try {
                return task.getAsBoolean();
            } catch (SegmentEndedException ended) {
                close();
                throw ended;
            } catch (PravegaException | StatusRuntimeException failed) {
                close();
                if (attempt == ATTEMPTS) {
                    throw failed;
                }
                LOG.warn("An append to {} is tried again: {}", segment.getScopedName(), failed.toString());
            }
            Waiting.sleep(pauseMs, TimeUnit.MILLISECONDS);
            pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
        }
    }
}
