package io.roseinfer.server.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import io.roseinfer.base.Clock;
import io.roseinfer.server.http.RequestReader.Item;
import io.roseinfer.server.http.Response.ClientGone;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One client's connection, on the thread of its channel. It assembles requests, answers them in order, and closes if
 * they take too long to arrive. The channel is also read while a response is in progress, because only reading detects
 * a disconnect. Reading pauses only while {@link #MAX_WAITING} requests are pipelined, or as many bytes of them as one
 * body may have.
 */
@SuppressWarnings(
        "FutureReturnValueIgnored") // a failed write or close ends the connection, and its handler is notified of that
final class Connection extends ChannelInboundHandlerAdapter {
    /** Maximum pipelined requests. */
    private static final int MAX_WAITING = 8;

    /**
     * Time for which the rest of a rejected request is read and discarded: closing with unread bytes could discard the
     * response.
     */
    private static final Duration LINGER = Duration.ofSeconds(1);

    private final HttpHandler handler;
    private final HttpLimits limits;
    private final Clock clock;
    private final PumpQueue queue;
    private final AtomicInteger calls;
    private final Peer peer;
    private final RequestReader reader;
    private final RequestDecoder decoder;
    private final ArrayDeque<Item> waiting = new ArrayDeque<>();
    private int waitingBytes;
    private @Nullable ChannelHandlerContext context;
    private @Nullable ChannelHandlerContext encoder;
    private @Nullable StallWatch stall;
    private @Nullable Response answering;
    private @Nullable ScheduledFuture<?> deadline;
    private long arrivedNanos;
    private boolean partial;
    private boolean ignoresInput;
    private boolean paused;
    private boolean served;

    /**
     * Creates a handler for a new connection.
     *
     * @param clock the clock of arrival times
     * @param queue of the channel's event loop
     * @param budget for the bodies of all connections
     * @param calls counts the calls being answered, on all connections
     * @param peer is notified once the connection is closed and its current response was notified
     */
    Connection(
            HttpHandler handler,
            HttpLimits limits,
            Clock clock,
            PumpQueue queue,
            BodyBudget budget,
            AtomicInteger calls,
            Peer peer) {
        this.queue = queue;
        this.calls = calls;
        this.peer = peer;
        this.handler = handler;
        this.limits = limits;
        this.clock = clock;
        this.reader = new RequestReader(limits, clock, handler, budget, peer);
        this.decoder = new RequestDecoder(limits, this::bytesArrived);
    }

    /** Returns the decoder that precedes this in the pipeline. */
    RequestDecoder decoder() {
        return decoder;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
        encoder = added.pipeline().context(HttpResponseEncoder.class);
        stall = new StallWatch(added.channel(), limits.writeStall());
        arm(limits.headTimeout());
    }

    private Channel channel() {
        return Objects.requireNonNull(context).channel();
    }

    private ChannelHandlerContext encoder() {
        return Objects.requireNonNull(encoder);
    }

    private StallWatch stall() {
        return Objects.requireNonNull(stall);
    }

    private void arm(Duration limit) {
        disarm();
        deadline = channel().eventLoop().schedule(this::expire, limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Rejects a request that has arrived in part, and closes the connection; without one closes it at once. */
    private void expire() {
        Optional<Item> late = partial ? reader.late() : Optional.empty();
        late.ifPresentOrElse(this::add, channel()::close);
    }

    private void disarm() {
        if (deadline != null) {
            deadline.cancel(false);
            deadline = null;
        }
    }

    /** Records that bytes have arrived that the decoder has not processed. */
    private void bytesArrived() {
        arrivedNanos = clock.nanos();
        if (!partial && !ignoresInput && !paused) {
            partial = true;
            reader.firstByte(arrivedNanos);
            arm(limits.headTimeout());
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext from, Object message) {
        try {
            if (!ignoresInput) {
                read((HttpObject) message);
            }
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void read(HttpObject part) {
        boolean wasInBody = reader.isInBody();
        Optional<Item> item = reader.read(part);
        if (!wasInBody && reader.isInBody()) {
            arm(limits.bodyTimeout());
            if (reader.expectsContinue() && item.isEmpty()) {
                channel().writeAndFlush(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE));
            }
        } else if (!reader.isInBody()) {
            partial = false;
            // For a request whose beginning arrived together with the end of this one.
            reader.firstByte(arrivedNanos);
            disarm();
            if (item.isEmpty() && answering == null) {
                arm(limits.idleTimeout());
            }
        }
        item.ifPresent(this::add);
    }

    private void add(Item item) {
        served |= !(item instanceof Item.Refused);
        ignoresInput = !keepsAlive(item);
        if (ignoresInput) {
            partial = false;
            disarm();
            reader.close();
        }
        waitingBytes += bytes(item);
        waiting.addLast(item);
        if (answering == null) {
            answerNext();
        }
        if (isFull() && !ignoresInput) {
            paused = true;
            decoder.pause();
            channel().config().setAutoRead(false);
            disarm();
        }
    }

    private boolean isFull() {
        return waiting.size() >= MAX_WAITING || waitingBytes > limits.bodyBytes();
    }

    /** Resumes reading, beginning with the bytes read before the pause. */
    private void resume() {
        if (!paused || isFull() || !channel().isActive()) {
            return;
        }
        paused = false;
        channel().config().setAutoRead(true);
        if (partial) {
            arm(reader.isInBody() ? limits.bodyTimeout() : limits.headTimeout());
        }
        try {
            decoder.resume(channel().pipeline().context(decoder));
        } catch (Exception e) {
            exceptionCaught(Objects.requireNonNull(context), e);
        }
    }

    private static boolean keepsAlive(Item item) {
        return switch (item) {
            case Item.Call call -> call.keepAlive();
            case Item.Decided decided -> decided.keepAlive();
            case Item.Refused refused -> false;
        };
    }

    private static int bytes(Item item) {
        return item instanceof Item.Call call ? call.call().body().size() : 0;
    }

    private void answerNext() {
        answering = null;
        Item item = waiting.pollFirst();
        if (item == null) {
            if (!partial && !ignoresInput) {
                arm(limits.idleTimeout());
            }
            return;
        }
        waitingBytes -= bytes(item);
        if (paused) {
            channel().eventLoop().execute(this::resume);
        }
        switch (item) {
            case Item.Call call -> answer(call);
            case Item.Decided decided -> answer(decided);
            case Item.Refused refused -> refuse(refused);
        }
    }

    private Response response(HttpCall call, boolean keepAlive, boolean chunked) {
        return new Response(encoder(), queue, keepAlive, chunked, call.method().equals("HEAD"), stall());
    }

    private void answer(Item.Decided decided) {
        Response response = response(decided.head(), decided.keepAlive(), decided.chunked());
        answering = response;
        decided.answer().get().whenComplete((reply, failure) -> {
            if (failure != null) {
                channel().close();
            } else if (channel().eventLoop().inEventLoop()) {
                send(reply, response, decided.keepAlive());
            } else {
                channel().eventLoop().execute(() -> send(reply, response, decided.keepAlive()));
            }
        });
    }

    private void send(Reply reply, Response response, boolean keepAlive) {
        response.sendAndForget(reply).addListener(ignored -> {
            if (keepAlive) {
                answerNextIfOpen();
            } else {
                linger();
            }
        });
    }

    private void answerNextIfOpen() {
        if (channel().isActive()) {
            answerNext();
        }
    }

    private void answer(Item.Call call) {
        Response response = response(call.call(), call.keepAlive(), call.chunked());
        answering = response;
        calls.incrementAndGet();
        Thread.ofVirtual().name("roseinfer-call").start(() -> {
            boolean complete = false;
            try {
                handler.handle(call.call(), response);
                complete = true;
            } catch (ClientGone | RejectedExecutionException gone) {
                // The client has disconnected, or the server was closed.
            } finally {
                try {
                    call.call().body().release();
                    finished(call.keepAlive() && complete);
                } finally {
                    calls.decrementAndGet();
                }
            }
        });
    }

    /** Continues after a call, on the call's thread: its response is complete, or never will be. */
    private void finished(boolean keepAlive) {
        Channel channel = channel();
        try {
            channel.eventLoop().execute(() -> {
                if (keepAlive) {
                    answerNextIfOpen();
                } else {
                    answering = null;
                    channel.close();
                }
            });
        } catch (RejectedExecutionException serverClosed) {
            // Then every connection is closed.
        }
    }

    private void refuse(Item.Refused refused) {
        Response response = response(refused.head(), false, true);
        answering = response;
        send(handler.refusal(refused.head(), refused.status(), refused.message()), response, false);
    }

    /** Closes once the client has received the response, or after a time. */
    private void linger() {
        answering = null;
        ((SocketChannel) channel()).shutdownOutput();
        arm(LINGER);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext from) {
        if (!channel().isWritable()) {
            stall().start();
        }
        if (answering != null) {
            answering.roomChanged();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext from) {
        disarm();
        ignoresInput = true;
        reader.close();
        for (Item item : waiting) {
            if (item instanceof Item.Call call) {
                call.call().body().release();
            }
        }
        waiting.clear();
        if (answering != null) {
            answering.connectionClosed();
        }
        peer.closed(served);
    }

    /** Closes the connection; the usual cause is a reset by the client. */
    @Override
    public void exceptionCaught(ChannelHandlerContext from, Throwable cause) {
        channel().close();
    }
}
