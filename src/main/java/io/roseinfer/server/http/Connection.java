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
 * One client's connection, on the thread of its channel: requests are put together, answered one after the other in their order, and
 * cut off when they take too long to come. The channel is read while a response is made, because reading alone shows that a client has
 * left; reading stops only while the client has sent {@link #MAX_WAITING} requests ahead, or as many bytes of them as one body may have.
 */
@SuppressWarnings(
        "FutureReturnValueIgnored") // a write or close that fails ends the connection, which notifies its handler
final class Connection extends ChannelInboundHandlerAdapter {
    /** Maximum requests that wait for the one being answered. */
    private static final int MAX_WAITING = 8;

    /** How long the rest of a refused request is read and thrown away: closing with bytes unread could take the answer with it. */
    private static final Duration LINGER = Duration.ofSeconds(1);

    private final HttpHandler handler;
    private final HttpLimits limits;
    private final Clock clock;
    private final PumpQueue queue;
    private final AtomicInteger calls;
    private final Runnable closed;
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
    private boolean deaf;
    private boolean paused;

    /**
     * A connection that has just been made.
     *
     * @param clock what arrivals are stamped by
     * @param queue of the channel's event loop
     * @param budget for the bodies of all connections
     * @param calls counts those that are being answered, on all connections
     * @param closed runs once it is closed and its answer, if one was being made, has been told
     */
    Connection(
            HttpHandler handler,
            HttpLimits limits,
            Clock clock,
            PumpQueue queue,
            BodyBudget budget,
            AtomicInteger calls,
            Runnable closed) {
        this.queue = queue;
        this.calls = calls;
        this.closed = closed;
        this.handler = handler;
        this.limits = limits;
        this.clock = clock;
        this.reader = new RequestReader(limits, clock, handler, budget);
        this.decoder = new RequestDecoder(limits, this::bytesArrived);
    }

    /** Returns the decoder that stands before this in the pipeline. */
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
        Channel channel = channel();
        deadline = channel.eventLoop().schedule(() -> channel.close(), limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void disarm() {
        if (deadline != null) {
            deadline.cancel(false);
            deadline = null;
        }
    }

    /** Bytes have come that the decoder has not seen yet. */
    private void bytesArrived() {
        arrivedNanos = clock.nanos();
        if (!partial && !deaf && !paused) {
            partial = true;
            reader.firstByte(arrivedNanos);
            arm(limits.headTimeout());
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext from, Object message) {
        try {
            if (!deaf) {
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
            // For a request whose beginning came together with the end of this one.
            reader.firstByte(arrivedNanos);
            disarm();
            if (item.isEmpty() && answering == null) {
                arm(limits.idleTimeout());
            }
        }
        item.ifPresent(this::add);
    }

    private void add(Item item) {
        deaf = !keepsAlive(item);
        if (deaf) {
            partial = false;
            disarm();
            reader.close();
        }
        waitingBytes += bytes(item);
        waiting.addLast(item);
        if (answering == null) {
            answerNext();
        }
        if (isFull() && !deaf) {
            paused = true;
            decoder.pause();
            channel().config().setAutoRead(false);
            disarm();
        }
    }

    private boolean isFull() {
        return waiting.size() >= MAX_WAITING || waitingBytes > limits.bodyBytes();
    }

    /** Reads again, beginning with what had been read before the pause. */
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
            case Item.Brief brief -> brief.keepAlive();
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
            if (!partial && !deaf) {
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
            case Item.Brief brief -> answer(brief);
            case Item.Refused refused -> refuse(refused);
        }
    }

    private Response response(HttpCall call, boolean keepAlive, boolean chunked) {
        return new Response(encoder(), queue, keepAlive, chunked, call.method().equals("HEAD"), stall());
    }

    private void answer(Item.Brief brief) {
        Response response = response(brief.head(), brief.keepAlive(), brief.chunked());
        answering = response;
        brief.answer().get().whenComplete((reply, failure) -> {
            if (failure != null) {
                channel().close();
            } else if (channel().eventLoop().inEventLoop()) {
                send(reply, response, brief.keepAlive());
            } else {
                channel().eventLoop().execute(() -> send(reply, response, brief.keepAlive()));
            }
        });
    }

    private void send(Reply reply, Response response, boolean keepAlive) {
        response.sendAndForget(reply).addListener(ignored -> {
            if (keepAlive) {
                goOn();
            } else {
                linger();
            }
        });
    }

    private void goOn() {
        if (channel().isActive()) {
            answerNext();
        }
    }

    private void answer(Item.Call call) {
        Response response = response(call.call(), call.keepAlive(), call.chunked());
        answering = response;
        calls.incrementAndGet();
        Thread.ofVirtual().name("roseinfer-call").start(() -> {
            boolean whole = false;
            try {
                handler.handle(call.call(), response);
                whole = true;
            } catch (ClientGone | RejectedExecutionException gone) {
                // Nobody is left to answer, or the server has been closed.
            } finally {
                call.call().body().release();
                finished(call.keepAlive() && whole);
                calls.decrementAndGet();
            }
        });
    }

    /** On the call's thread: its answer is whole, or never will be. */
    private void finished(boolean keepAlive) {
        Channel channel = channel();
        try {
            channel.eventLoop().execute(() -> {
                if (keepAlive) {
                    goOn();
                } else {
                    answering = null;
                    channel.close();
                }
            });
        } catch (RejectedExecutionException serverClosed) {
            // And every connection with it.
        }
    }

    private void refuse(Item.Refused refused) {
        Response response = response(refused.head(), false, true);
        answering = response;
        send(handler.refusal(refused.head(), refused.status(), refused.message()), response, false);
    }

    /** Closes once the client has what was written, or after a time. */
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
        deaf = true;
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
        closed.run();
    }

    /** A reset by the client, most often. */
    @Override
    public void exceptionCaught(ChannelHandlerContext from, Throwable cause) {
        channel().close();
    }
}
