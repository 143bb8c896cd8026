package io.roseinfer.server.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
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
import io.roseinfer.server.http.ResponseWriter.ClientGone;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One client's connection, on the thread of its channel: requests are put together, answered one after the other in their order, and
 * cut off when they take too long to come. The channel is read all the time, also while an answer is made, because a client that leaves
 * is seen by reading alone; what a client sends ahead meanwhile is bounded.
 */
@SuppressWarnings(
        "FutureReturnValueIgnored") // a write or close that fails ends the connection, of which its handler hears
final class Connection extends ChannelInboundHandlerAdapter {
    /** Most requests that wait for the one being answered. */
    private static final int MOST_WAITING = 8;

    /** How long the rest of a refused request is read and thrown away: closing with bytes unread could take the answer with it. */
    private static final Duration LINGER = Duration.ofSeconds(1);

    private final HttpHandler handler;
    private final HttpLimits limits;
    private final Clock clock;
    private final PumpQueue queue;
    private final AtomicInteger calls;
    private final Runnable closed;
    private final RequestReader reader;
    private final ArrayDeque<Item> waiting = new ArrayDeque<>();
    private int waitingBytes;
    private @Nullable ChannelHandlerContext context;
    private @Nullable ChannelHandlerContext encoder;
    private @Nullable NettyResponse answering;
    private @Nullable ScheduledFuture<?> deadline;
    private long arrivedNanos;
    private boolean partial;
    private boolean deaf;

    /**
     * A connection that has just been made.
     *
     * @param clock what arrivals are stamped by
     * @param queue of the channel's event loop
     * @param calls counts those that are being answered, on all connections
     * @param closed runs once it is closed and its answer, if one was being made, has been told
     */
    Connection(
            HttpHandler handler,
            HttpLimits limits,
            Clock clock,
            PumpQueue queue,
            AtomicInteger calls,
            Runnable closed) {
        this.queue = queue;
        this.calls = calls;
        this.closed = closed;
        this.handler = handler;
        this.limits = limits;
        this.clock = clock;
        this.reader = new RequestReader(limits, clock);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
        encoder = added.pipeline().context(HttpResponseEncoder.class);
        arm(limits.headTimeout());
    }

    private Channel channel() {
        return Objects.requireNonNull(context).channel();
    }

    private ChannelHandlerContext encoder() {
        return Objects.requireNonNull(encoder);
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
    void bytesArrived() {
        arrivedNanos = clock.nanos();
        if (!partial && !deaf) {
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
        Item item = reader.read(part).orElse(null);
        if (item != null) {
            partial = false;
            // For a request whose beginning came together with the end of this one.
            reader.firstByte(arrivedNanos);
            disarm();
            add(item);
        } else if (!wasInBody && reader.isInBody()) {
            arm(limits.bodyTimeout());
            if (reader.expectsContinue()) {
                channel().writeAndFlush(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE));
            }
        }
    }

    private void add(Item item) {
        deaf = item instanceof Item.Refused || (item instanceof Item.Call last && !last.keepAlive());
        waitingBytes += bytes(item);
        if (waiting.size() == MOST_WAITING || (!waiting.isEmpty() && waitingBytes > limits.bodyBytes())) {
            channel().close();
            return;
        }
        waiting.addLast(item);
        if (answering == null) {
            answerNext();
        }
    }

    private static int bytes(Item item) {
        return item instanceof Item.Call call ? call.call().body().length : 0;
    }

    private void answerNext() {
        Item item = waiting.pollFirst();
        if (item == null) {
            if (!partial) {
                arm(limits.idleTimeout());
            }
            return;
        }
        waitingBytes -= bytes(item);
        switch (item) {
            case Item.Call call -> answer(call);
            case Item.Refused refused -> refuse(refused);
        }
    }

    private void answer(Item.Call call) {
        NettyResponse response =
                new NettyResponse(encoder(), queue, call.keepAlive(), call.chunked(), limits.writeStall());
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
                finished(call.keepAlive() && whole);
                calls.decrementAndGet();
            }
        });
    }

    /** On the call's thread: its answer is whole, or never will be. */
    private void finished(boolean goOn) {
        Channel channel = channel();
        try {
            channel.eventLoop().execute(() -> {
                answering = null;
                if (!goOn) {
                    channel.close();
                } else if (channel.isActive()) {
                    answerNext();
                }
            });
        } catch (RejectedExecutionException serverClosed) {
            // And every connection with it.
        }
    }

    private void refuse(Item.Refused refused) {
        NettyResponse response = new NettyResponse(encoder(), queue, false, true, limits.writeStall());
        ChannelFuture written = response.sendAndForget(handler.refusal(refused.status(), refused.message()));
        written.addListener(ignored -> {
            ((SocketChannel) channel()).shutdownOutput();
            arm(LINGER);
        });
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext from) {
        if (answering != null) {
            answering.roomChanged();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext from) {
        disarm();
        deaf = true;
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
