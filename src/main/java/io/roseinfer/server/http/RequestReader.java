package io.roseinfer.server.http;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.roseinfer.base.Clock;
import io.roseinfer.base.Quoted;
import io.roseinfer.server.http.HttpCall.Arrival;
import io.roseinfer.server.http.RequestDecoder.TlsHandshake;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Assembles requests from their parts and rejects those that exceed a limit. The body of a request that its headers
 * decide is discarded; other bodies are kept within the budget, in memory that grows with the bytes received.
 */
final class RequestReader {
    /** A request or error to answer, in order. */
    sealed interface Item {
        /** A complete call, with whether the connection stays open after it, and whether its client supports chunks. */
        record Call(HttpCall call, boolean keepAlive, boolean chunked) implements Item {}

        /** A request that its headers decide; its body, if it has one, may still be on its way. */
        record Decided(HttpCall head, Supplier<CompletionStage<Reply>> answer, boolean keepAlive, boolean chunked)
                implements Item {}

        /** Bytes that are not a request, or that exceed a limit; nothing is read after them. */
        record Refused(HttpCall head, int status, String message) implements Item {}
    }

    private static final byte[] NOTHING = {};

    /** The start of Netty's message about a length, before its value. */
    private static final String INVALID_LENGTH = "Content-Length value is not a number: ";

    private final HttpLimits limits;
    private final Clock clock;
    private final HttpHandler handler;
    private final BodyBudget budget;
    private long firstByteNanos;
    private @Nullable HttpRequest request;
    private final Peer peer;
    private HttpCall head;
    private boolean discards;
    private byte[] body = NOTHING;
    private int size;

    RequestReader(HttpLimits limits, Clock clock, HttpHandler handler, BodyBudget budget, Peer peer) {
        this.limits = limits;
        this.clock = clock;
        this.handler = handler;
        this.budget = budget;
        this.peer = peer;
        this.head = unreadable();
    }

    private HttpCall unreadable() {
        return HttpCall.unreadable(peer.address(), firstByteNanos);
    }

    /** Records when the first bytes of the next request arrived. */
    void firstByte(long nanos) {
        firstByteNanos = nanos;
    }

    /** Returns whether a request's headers are complete and its body is not. */
    boolean isInBody() {
        return request != null;
    }

    /** Returns whether the client waits for permission to send the body, and has it. */
    boolean expectsContinue() {
        return request != null && !discards && HttpUtil.is100ContinueExpected(request);
    }

    /** Processes the next part; returns an item once a request is complete, is decided, or is invalid. */
    Optional<Item> read(HttpObject part) {
        if (part.decoderResult().isFailure()) {
            return Optional.of(undecodable(part.decoderResult().cause()));
        }
        if (part instanceof HttpRequest begun) {
            return begin(begun).or(() -> part instanceof HttpContent content ? append(content) : Optional.empty());
        }
        return part instanceof HttpContent content ? append(content) : Optional.empty();
    }

    /**
     * Returns the rejection of a request that has not arrived in time; empty if its body is discarded, since it has
     * its response.
     */
    Optional<Item> late() {
        if (!isInBody()) {
            String message = "the headers did not arrive within " + seconds(limits.headTimeout());
            return Optional.of(new Item.Refused(unreadable(), 408, message));
        }
        return discards
                ? Optional.empty()
                : refused(408, "the body did not arrive within " + seconds(limits.bodyTimeout()));
    }

    private static String seconds(Duration limit) {
        return BigDecimal.valueOf(limit.toMillis(), 3).stripTrailingZeros().toPlainString() + " s";
    }

    /** Releases the reservation of a request that never became complete. */
    void close() {
        if (size > 0) {
            budget.release(size);
        }
        body = NOTHING;
        size = 0;
    }

    private Item undecodable(Throwable cause) {
        HttpCall known = request == null ? unreadable() : head;
        return switch (cause) {
            case TooLongHttpLineException line ->
                new Item.Refused(known, 414, "the request line has more than " + RequestDecoder.LINE_BYTES + " bytes");
            case TooLongHttpHeaderException headers ->
                new Item.Refused(known, 431, "the headers have more than " + limits.headerBytes() + " bytes");
            case TlsHandshake tls ->
                new Item.Refused(known, 400, "a TLS handshake; this port speaks plain HTTP: connect with http://");
            default -> new Item.Refused(known, 400, "not an HTTP request" + reason(cause));
        };
    }

    private static String reason(Throwable cause) {
        String why = cause.getMessage();
        if (why == null) {
            return "";
        }
        return ": "
                + (why.startsWith(INVALID_LENGTH)
                        ? "Content-Length is " + Quoted.value(why.substring(INVALID_LENGTH.length()))
                                + "; it must be a whole number from 0"
                        : Quoted.value(why));
    }

    private Optional<Item> begin(HttpRequest begun) {
        head = head(begun, clock.nanos());
        Optional<Item> refused = refusal(begun);
        if (refused.isPresent()) {
            return refused;
        }
        request = begun;
        Optional<Item> decided = handler.atHead(head)
                .map(answer ->
                        new Item.Decided(head, answer, keepsAlive(begun) && isShortBody(begun), isChunkReader(begun)));
        discards = decided.isPresent();
        return decided.isEmpty() && HttpUtil.getContentLength(begun, 0L) > limits.bodyBytes() ? tooLarge() : decided;
    }

    /** Returns whether an unread body is sure to arrive, and bounded. */
    private boolean isShortBody(HttpRequest begun) {
        return !HttpUtil.isTransferEncodingChunked(begun)
                && !HttpUtil.is100ContinueExpected(begun)
                && HttpUtil.getContentLength(begun, 0L) <= limits.bodyBytes();
    }

    private static boolean isChunkReader(HttpRequest begun) {
        return begun.protocolVersion().equals(HttpVersion.HTTP_1_1);
    }

    private boolean keepsAlive(HttpRequest begun) {
        return !peer.isForProbes() && isChunkReader(begun) && HttpUtil.isKeepAlive(begun);
    }

    private Optional<Item> refusal(HttpRequest begun) {
        HttpHeaders headers = begun.headers();
        if (headers.size() > limits.headers()) {
            return refused(431, headers.size() + " headers; at most " + limits.headers() + " are read");
        }
        HttpVersion version = begun.protocolVersion();
        if (!version.equals(HttpVersion.HTTP_1_1) && !version.equals(HttpVersion.HTTP_1_0)) {
            return refused(400, "the HTTP version must be 1.1 or 1.0");
        }
        int hosts = headers.getAll(HttpHeaderNames.HOST).size();
        if (hosts > 1 || (hosts == 0 && version.equals(HttpVersion.HTTP_1_1))) {
            return refused(400, "the request has " + hosts + " Host headers; it must have exactly one");
        }
        List<String> encodings = headers.getAll(HttpHeaderNames.TRANSFER_ENCODING);
        if (!encodings.isEmpty()
                && !(encodings.size() == 1 && encodings.getFirst().equalsIgnoreCase("chunked"))) {
            return refused(400, "Transfer-Encoding must be chunked");
        }
        if (peer.isForProbes() && !handler.isProbe(head)) {
            return refused(503, limits.connections() + " connections are open, the server's maximum; try again later");
        }
        return Optional.empty();
    }

    private Optional<Item> refused(int status, String message) {
        return Optional.of(new Item.Refused(head, status, message));
    }

    private Optional<Item> tooLarge() {
        return refused(413, "the body is larger than " + limits.bodyBytes() + " bytes");
    }

    private Optional<Item> append(HttpContent content) {
        if (!discards) {
            ByteBuf bytes = content.content();
            int more = bytes.readableBytes();
            if (size + more > limits.bodyBytes()) {
                return tooLarge();
            }
            if (more > 0 && !budget.tryReserve(more, size + more)) {
                return refused(503, "the memory for request bodies is in use by other requests; try again later");
            }
            reserve(more);
            bytes.readBytes(body, size, more);
            size += more;
        }
        if (!(content instanceof LastHttpContent)) {
            return Optional.empty();
        }
        HttpRequest complete = request;
        request = null;
        return discards || complete == null ? Optional.empty() : Optional.of(assembled(complete));
    }

    /** Makes room for more bytes, beyond the announced length only if the client sends more. */
    private void reserve(int more) {
        if (body.length - size < more) {
            long announced = request == null ? 0 : HttpUtil.getContentLength(request, 0L);
            long doubled = announced > 0 ? Math.min(2L * body.length, announced) : 2L * body.length;
            body = Arrays.copyOf(body, (int) Math.max(doubled, size + more));
        }
    }

    private HttpCall head(HttpRequest request, long headNanos) {
        Map<String, String> headers = new HashMap<>();
        request.headers()
                .forEach(header -> headers.putIfAbsent(header.getKey().toLowerCase(Locale.ROOT), header.getValue()));
        String target = origin(request.uri());
        int query = target.indexOf('?');
        return new HttpCall(
                request.method().name(),
                query < 0 ? target : target.substring(0, query),
                query < 0 ? "" : target.substring(query + 1),
                headers,
                unreadable().body(),
                new Arrival(firstByteNanos, headNanos, headNanos),
                peer.address());
    }

    /** Returns the path and query of a target that may have a scheme and host. */
    private static String origin(String target) {
        if (!target.regionMatches(true, 0, "http://", 0, 7) && !target.regionMatches(true, 0, "https://", 0, 8)) {
            return target;
        }
        int host = target.indexOf("//") + 2;
        int end = host;
        while (end < target.length() && "/?".indexOf(target.charAt(end)) < 0) {
            end++;
        }
        String rest = target.substring(end);
        return rest.startsWith("/") ? rest : "/" + rest;
    }

    private Item assembled(HttpRequest complete) {
        byte[] bytes = size == body.length ? body : Arrays.copyOf(body, size);
        HttpCall call = new HttpCall(
                head.method(),
                head.path(),
                head.query(),
                head.headers(),
                new RequestBody(budget, bytes),
                new Arrival(firstByteNanos, head.arrival().headNanos(), clock.nanos()),
                peer.address());
        body = NOTHING;
        size = 0;
        return new Item.Call(call, keepsAlive(complete), isChunkReader(complete));
    }
}
