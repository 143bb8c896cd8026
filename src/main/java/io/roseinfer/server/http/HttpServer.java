package io.roseinfer.server.http;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketProtocolFamily;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.JdkLoggerFactory;
import io.roseinfer.base.Clock;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.AddressInUse;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.server.http.ConnectionLimit.Admission;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Listens on a port, and passes calls to a handler until it is closed. */
@SuppressWarnings(
        "FutureReturnValueIgnored") // a failed write or close ends the connection, and its handler is notified of that
public final class HttpServer implements AutoCloseable {
    /** Limit of unsent response bytes per connection; the system buffers about as much again. */
    private static final int HIGH_WATER_BYTES = 64 << 10;

    private static final int SEND_BUFFER_BYTES = 64 << 10;
    private static final int BACKLOG = 1024;
    private static final int MAX_THREADS = 4;
    private static final long STOP_SECONDS = 2;

    /** Interval of the checks whether calls have noticed that their connections are closed. */
    private static final long WAIT_NANOS = 1_000_000;

    private static final int MAX_WAITS = 1000;
    private static final Remedy CHOOSE_HOST =
            Remedy.of("choose another %s, such as 0.0.0.0 for every IPv4 address", "host");

    static {
        // Regardless of other loggers on the class path.
        InternalLoggerFactory.setDefaultFactory(JdkLoggerFactory.INSTANCE);
    }

    private final MultiThreadIoEventLoopGroup loops;
    private final Open open;
    private final Channel listening;

    /** Open resources: channels, connections on them, calls being answered, and the bodies in memory. */
    private record Open(ChannelGroup channels, ConnectionLimit connections, AtomicInteger calls, BodyBudget budget) {
        Open(HttpLimits limits, Clock clock) {
            this(
                    new DefaultChannelGroup(GlobalEventExecutor.INSTANCE),
                    new ConnectionLimit(limits.connections(), clock),
                    new AtomicInteger(),
                    new BodyBudget(limits.heldBytes(), clock));
        }
    }

    private HttpServer(MultiThreadIoEventLoopGroup loops, Open open, Channel listening) {
        this.loops = loops;
        this.open = open;
        this.listening = listening;
    }

    /**
     * Listens on an address: {@code 0.0.0.0} is every IPv4 address of the machine, {@code ::} every address.
     *
     * @param port the port, or 0 for a free one
     * @param clock the clock of arrival times
     * @throws AddressInUse if another process uses the address
     * @throws BadInput if it is not available
     */
    public static HttpServer start(String host, int port, HttpLimits limits, Clock clock, HttpHandler handler) {
        Objects.requireNonNull(handler, "handler");
        InetSocketAddress address = resolved(host, port);
        int threads = Math.clamp(Runtime.getRuntime().availableProcessors() / 4, 1, MAX_THREADS);
        MultiThreadIoEventLoopGroup loops = new MultiThreadIoEventLoopGroup(
                threads, new DefaultThreadFactory("roseinfer-http", true), NioIoHandler.newFactory());
        Open open = new Open(limits, clock);
        ChannelFuture bound = new ServerBootstrap()
                .group(loops)
                .channelFactory(() -> new NioServerSocketChannel(
                        SelectorProvider.provider(), SocketProtocolFamily.of(family(address))))
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_SNDBUF, SEND_BUFFER_BYTES)
                .childOption(
                        ChannelOption.WRITE_BUFFER_WATER_MARK,
                        new WriteBufferWaterMark(HIGH_WATER_BYTES / 2, HIGH_WATER_BYTES))
                .childHandler(initializer(limits, clock, handler, open))
                .bind(address)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            loops.shutdownGracefully(0, STOP_SECONDS, TimeUnit.SECONDS);
            throw unavailable(host, port, Objects.requireNonNull(bound.cause()));
        }
        bound.channel().pipeline().addLast(new AcceptFailures(clock));
        return new HttpServer(loops, open, bound.channel());
    }

    /**
     * Logs failures to accept a connection, at most once a minute. It stands behind Netty's acceptor, which pauses for a
     * second after a failure.
     */
    static final class AcceptFailures extends ChannelInboundHandlerAdapter {
        private static final System.Logger LOGGER = System.getLogger("io.roseinfer.server");

        private final MessageLimit limit;

        AcceptFailures(Clock clock) {
            this.limit = new MessageLimit(1, clock);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
            if (limit.tryLog()) {
                LOGGER.log(
                        System.Logger.Level.WARNING,
                        "connections cannot be accepted: " + failure.getMessage()
                                + "; raise the limit of open files (ulimit -n), or lower max_connections");
            }
        }
    }

    /**
     * Checks that an address is available now, before long preparations for {@link #start}.
     *
     * @throws AddressInUse if another process uses it
     * @throws BadInput if it cannot be used
     */
    public static void requireFree(String host, int port) {
        InetSocketAddress address = resolved(host, port);
        try (ServerSocketChannel probe = ServerSocketChannel.open(family(address))) {
            probe.setOption(StandardSocketOptions.SO_REUSEADDR, true).bind(address);
        } catch (IOException | UnsupportedAddressTypeException | UnsupportedOperationException cannot) {
            throw unavailable(host, port, cannot);
        }
    }

    private static InetSocketAddress resolved(String host, int port) {
        InetSocketAddress address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            throw new BadInput("host " + host + " is unknown", CHOOSE_HOST);
        }
        return address;
    }

    /** Returns the family of an address. The JDK's default would bind {@code 0.0.0.0} as {@code ::}. */
    private static StandardProtocolFamily family(InetSocketAddress address) {
        return address.getAddress() instanceof Inet4Address
                ? StandardProtocolFamily.INET
                : StandardProtocolFamily.INET6;
    }

    private static RoseException unavailable(String host, int port, Throwable cause) {
        String problem = "cannot listen on " + host + " port " + port + ": " + cause.getMessage();
        if (!canBind(host)) {
            return new BadInput(problem, cause, CHOOSE_HOST);
        }
        Remedy choosePort = Remedy.of("choose another %s, or 0 for a free one", "port");
        return problem.endsWith("already in use")
                ? new AddressInUse(problem, cause, Remedy.of("stop the process that uses it"), choosePort)
                : new BadInput(problem, cause, choosePort);
    }

    /** Returns whether any port of an address can be bound. */
    private static boolean canBind(String host) {
        InetSocketAddress anyPort = resolved(host, 0);
        try (ServerSocketChannel probe = ServerSocketChannel.open(family(anyPort))) {
            probe.bind(anyPort);
            return true;
        } catch (IOException | UnsupportedAddressTypeException | UnsupportedOperationException cannot) {
            return false;
        }
    }

    private static ChannelInitializer<SocketChannel> initializer(
            HttpLimits limits, Clock clock, HttpHandler handler, Open open) {
        ConcurrentMap<EventLoop, PumpQueue> queues = new ConcurrentHashMap<>();
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                Admission admission = open.connections().admit();
                if (admission == Admission.REJECTED) {
                    open.connections().rejected();
                    channel.close();
                    return;
                }
                boolean unused = open.channels().add(channel);
                PumpQueue queue = queues.computeIfAbsent(channel.eventLoop(), PumpQueue::new);
                Connection connection = new Connection(
                        handler,
                        admission == Admission.RESERVED ? limits.forProbes() : limits,
                        clock,
                        queue,
                        open.budget(),
                        open.calls(),
                        new Peer(address(channel), admission, open.connections()));
                channel.pipeline().addLast(connection.decoder(), new HttpResponseEncoder(), connection);
            }
        };
    }

    private static String address(SocketChannel channel) {
        InetSocketAddress address = channel.remoteAddress();
        return address == null ? Peer.UNKNOWN : address.getAddress().getHostAddress();
    }

    /** Returns the address it listens on. */
    public InetSocketAddress address() {
        return (InetSocketAddress) listening.localAddress();
    }

    /**
     * Returns the number of open connections. The response in progress on a closed connection is notified before it is
     * no longer counted.
     */
    public int connections() {
        return open.connections().open();
    }

    /**
     * Returns the number of connections beyond the maximum that were not served a probe: they were closed, or their
     * request was answered 503.
     */
    public long rejectedConnections() {
        return open.connections().rejectedCount();
    }

    /** Returns the bytes of request bodies in memory. */
    long reservedBytes() {
        return open.budget().reserved();
    }

    /**
     * Closes every connection and stops listening; calls have up to a second to notice. May be called any number of
     * times.
     */
    @Override
    public void close() {
        listening.close().awaitUninterruptibly();
        open.channels().close().awaitUninterruptibly();
        for (int waits = 0; open.calls().get() > 0 && waits < MAX_WAITS; waits++) {
            LockSupport.parkNanos(WAIT_NANOS);
        }
        loops.shutdownGracefully(0, STOP_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
