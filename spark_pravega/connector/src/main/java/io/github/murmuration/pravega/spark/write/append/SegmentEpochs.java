// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.append;

import io.github.murmuration.pravega.shaded.io.grpc.StatusRuntimeException;
import io.github.murmuration.pravega.shaded.io.netty.buffer.Unpooled;
import io.github.murmuration.pravega.spark.PravegaException;
import io.github.murmuration.pravega.spark.client.Waiting;
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
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The epochs of one query in one segment: each is appended once whatever happens, or fenced and then never.
 *
 * <p>A segment keeps a number for every writer and replaces it in the same step as it appends, on condition that it is
 * still the number that the writer saw; so Pravega's own writers survive a lost connection. Here the writer's id
 * outlives the process, and with it the number: 2n says that epoch n was appended, 2n + 1 that it was fenced, because
 * it goes elsewhere. Of a driver that appends and one that fences only one can win.
 *
 * <p>The writer's id is of this segment alone: for a connection, which many share, the segment store knows just one
 * segment of a writer, and an append does not name it.
 */
final class SegmentEpochs {
    private static final Logger LOG = LoggerFactory.getLogger(SegmentEpochs.class);
    private static final int ATTEMPTS = 12;
    private static final long FIRST_PAUSE_MS = 100;
    private static final long LONGEST_PAUSE_MS = 10_000;
    private static final long SEAL_SECONDS = 10;
    private static final long SEAL_POLL_MS = 20;
    /** Where an append does not care for the segment's length; so the segment store has it for every other writer. */
    private static final long ANY_OFFSET = -1;

    private final Controller controller;
    private final ConnectionPool pool;
    private final Segment segment;
    private final UUID query;
    private final UUID writer;
    private final DelegationTokenProvider token;
    private RawClient client;
    private String permission;
    /** As the segment has it. */
    private long number;
    private long sent = -1;

    SegmentEpochs(Controller controller, ConnectionPool pool, Segment segment, UUID query) {
        this.controller = controller;
        this.pool = pool;
        this.segment = segment;
        this.query = query;
        writer = writer(query, segment);
        token = DelegationTokenProviderFactory.create(controller, segment, AccessOperation.WRITE);
    }

    static UUID writer(UUID query, Segment segment) {
        return UUID.nameUUIDFromBytes((query + "/" + segment.getScopedName()).getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Appends all of an epoch or nothing, unless that was done before; durable and readable on return.
     *
     * @param begins whether nobody but another driver can have appended it before
     * @return what the epoch is now: appended or fenced
     * @throws SegmentEndedException if the segment is sealed or gone; whether the epoch is there, {@link #fence} tells
     * @throws PravegaException if the segment holds a later epoch, or this one of another driver
     */
    synchronized EpochState append(long epoch, ByteBuffer events, boolean begins) {
        return retried(() -> {
            connect();
            if (known(epoch) == EpochState.APPENDED && begins && sent != epoch) {
                throw PravegaException.setBack(epoch, epoch);
            }
            if (known(epoch) == EpochState.ABSENT) {
                send(2 * epoch, events);
            }
            return known(epoch);
        });
    }

    /** The last epoch that was sent and may be there; -1 if there was none. */
    synchronized long sent() {
        return sent;
    }

    /**
     * What the epoch is now.
     *
     * @throws SegmentEndedException if the segment is gone
     * @throws PravegaException if it holds a later epoch
     */
    synchronized EpochState state(long epoch) {
        return retried(() -> {
            connect();
            return known(epoch);
        });
    }

    /**
     * Sees to it that an epoch that is not appended yet never will be.
     *
     * @return what the epoch is now: appended or fenced
     * @throws SegmentEndedException if the segment is gone
     * @throws PravegaException if the segment holds a later epoch
     */
    synchronized EpochState fence(long epoch) {
        return retried(() -> {
            connect();
            if (known(epoch) != EpochState.ABSENT) {
                return known(epoch);
            }
            Reply reply = ask(id -> new WireCommands.UpdateSegmentAttribute(
                    id, segment.getScopedName(), writer, 2 * epoch + 1, number, permission));
            if (reply instanceof WireCommands.SegmentIsSealed) {
                return stateOnceSealed(epoch);
            }
            if (!expect(WireCommands.SegmentAttributeUpdated.class, reply).isSuccess()) {
                throw new PravegaException(segment.getScopedName() + ": another driver of the query writes there");
            }
            close(); // the connection still has the number before
            return EpochState.FENCED;
        });
    }

    /** A segment refuses what comes after its seal, before what came in front of the seal can be seen. */
    private EpochState stateOnceSealed(long epoch) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SEAL_SECONDS);
        while (!expect(WireCommands.StreamSegmentInfo.class, ask(id ->
                new WireCommands.GetStreamSegmentInfo(id, segment.getScopedName(), permission))).isSealed()) {
            if (System.nanoTime() > end) {
                throw new PravegaException(segment.getScopedName() + " refuses appends, and is not sealed");
            }
            Waiting.sleep(SEAL_POLL_MS, TimeUnit.MILLISECONDS);
        }
        number = setUp(writer);
        return known(epoch) == EpochState.ABSENT ? EpochState.FENCED : known(epoch);
    }

    synchronized void close() {
        if (client != null) {
            client.close();
            client = null;
        }
    }

    private EpochState known(long epoch) {
        long last = number == WireCommands.NULL_ATTRIBUTE_VALUE ? numberOfFirstRelease() : number;
        if (last > 2 * epoch + 1) {
            throw PravegaException.setBack(last / 2, epoch);
        }
        return last < 2 * epoch ? EpochState.ABSENT : last == 2 * epoch ? EpochState.APPENDED : EpochState.FENCED;
    }

    /** Release 0.1.0 had the query's id for a writer and the epoch for a number. */
    private long numberOfFirstRelease() {
        long epoch = setUp(query);
        return epoch == WireCommands.NULL_ATTRIBUTE_VALUE ? epoch : 2 * epoch;
    }

    private void connect() {
        if (client != null && !client.isClosed()) {
            return;
        }
        client = new RawClient(controller, pool, segment);
        permission = Waiting.on(token.retrieveToken());
        number = setUp(writer);
    }

    private long setUp(UUID id) {
        Reply reply = ask(request -> new WireCommands.SetupAppend(request, id, segment.getScopedName(), permission));
        return expect(WireCommands.AppendSetup.class, reply).getLastEventNumber();
    }

    private void send(long next, ByteBuffer events) {
        LOG.debug("Epoch {} of query {} goes to {}", next / 2, query, segment.getScopedName());
        long before = sent;
        sent = next / 2;
        Reply reply = ask(id -> new WireCommands.ConditionalBlockEnd(
                writer, next, ANY_OFFSET, Unpooled.wrappedBuffer(events.duplicate()), id));
        if (hasEnded(reply)) {
            sent = before; // it did nothing
        }
        expect(WireCommands.DataAppended.class, reply);
        number = next;
    }

    private static boolean hasEnded(Reply reply) {
        return reply instanceof WireCommands.SegmentIsSealed || reply instanceof WireCommands.NoSuchSegment;
    }

    private <T extends Request & WireCommand> Reply ask(LongFunction<T> request) {
        long id = client.getFlow().getNextSequenceNumber();
        return Waiting.on(client.sendRequest(id, request.apply(id)));
    }

    private <T extends Reply> T expect(Class<T> type, Reply reply) {
        if (hasEnded(reply)) {
            throw new SegmentEndedException(reply.toString());
        }
        if (reply instanceof WireCommands.AuthTokenCheckFailed refused) {
            if (!refused.isTokenExpired()) {
                throw PravegaException.refused(new PravegaException(reply.toString()));
            }
            token.signalTokenExpired();
        }
        if (!type.isInstance(reply)) {
            throw new PravegaException(segment.getScopedName() + ": " + reply);
        }
        return type.cast(reply);
    }

    /** After any failure it is unknown what was done: the next attempt, or the next call, asks the segment anew. */
    private EpochState retried(Supplier<EpochState> task) {
        long pauseMs = FIRST_PAUSE_MS;
        for (int attempt = 1; ; attempt++) {
            try {
                return task.get();
            } catch (SegmentEndedException ended) {
                close();
                throw ended;
            } catch (PravegaException | StatusRuntimeException failed) {
                close();
                if (attempt == ATTEMPTS || failed instanceof PravegaException known && known.isFinal()) {
                    throw failed;
                }
                LOG.warn("{} is asked again: {}", segment.getScopedName(), failed.toString());
            } catch (RuntimeException | Error failed) { // an interruption, too
                close();
                throw failed;
            }
            Waiting.sleep(pauseMs, TimeUnit.MILLISECONDS);
            pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
        }
    }
}
