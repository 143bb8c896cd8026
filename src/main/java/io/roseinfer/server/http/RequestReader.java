package io.roseinfer.server.http;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
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
import java.io.ByteArrayOutputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Puts the parts of requests together and refuses those that break a limit. The body's memory grows with what has come. */
final class RequestReader {
    /** Something to answer, in its turn. */
    sealed interface Item {
        /** A call, whether the connection stays open behind it, and whether its client reads chunks. */
        record Call(HttpCall call, boolean keepAlive, boolean chunked) implements Item {}

        /** Bytes that are no request of ours; nothing is read behind them. */
        record Refused(int status, String message) implements Item {}
    }

    private final HttpLimits limits;
    private final Clock clock;
    private long firstByteNanos;
    private long headNanos;
    private @Nullable HttpRequest head;
    private ByteArrayOutputStream body = new ByteArrayOutputStream(0);

    RequestReader(HttpLimits limits, Clock clock) {
        this.limits = limits;
        this.clock = clock;
    }

    /** Notes when the first bytes of the next request came. */
    void firstByte(long nanos) {
        firstByteNanos = nanos;
    }

    /** Whether a request's head has come and its body has not. */
    boolean isInBody() {
        return head != null;
    }

    /** Whether the client waits for a word before it sends the body. */
    boolean expectsContinue() {
        return head != null && HttpUtil.is100ContinueExpected(head);
    }

    /** Takes the next part in; the result is there once a request is whole, or cannot become one. */
    Optional<Item> read(HttpObject part) {
        if (part.decoderResult().isFailure()) {
            return Optional.of(undecodable(part.decoderResult().cause()));
        }
        if (part instanceof HttpRequest request) {
            Optional<Item> refused = refusal(request);
            if (refused.isPresent()) {
                return refused;
            }
            head = request;
            headNanos = clock.nanos();
            body = new ByteArrayOutputStream(0);
        }
        return part instanceof HttpContent content ? append(content) : Optional.empty();
    }

    private static Item undecodable(Throwable cause) {
        return switch (cause) {
            case TooLongHttpLineException line -> new Item.Refused(414, "the request line is too long");
            case TooLongHttpHeaderException headers -> new Item.Refused(431, "the headers are too long");
            default -> {
                String why = cause.getMessage();
                yield new Item.Refused(400, "not an HTTP request" + (why == null ? "" : ": " + Quoted.value(why)));
            }
        };
    }

    private Optional<Item> refusal(HttpRequest request) {
        HttpHeaders headers = request.headers();
        if (headers.size() > limits.headers()) {
            return refused(431, headers.size() + " headers; at most " + limits.headers() + " are read");
        }
        if (request.method().equals(HttpMethod.HEAD)) {
            return refused(405, "HEAD is not answered; use GET");
        }
        HttpVersion version = request.protocolVersion();
        if (!version.equals(HttpVersion.HTTP_1_1) && !version.equals(HttpVersion.HTTP_1_0)) {
            return refused(400, "HTTP/1.1 and HTTP/1.0 are spoken here");
        }
        int hosts = headers.getAll(HttpHeaderNames.HOST).size();
        if (hosts > 1 || (hosts == 0 && version.equals(HttpVersion.HTTP_1_1))) {
            return refused(400, "the request has " + hosts + " Host headers; it must have one");
        }
        List<String> encodings = headers.getAll(HttpHeaderNames.TRANSFER_ENCODING);
        if (!encodings.isEmpty()
                && !(encodings.size() == 1 && encodings.getFirst().equalsIgnoreCase("chunked"))) {
            return refused(400, "the only Transfer-Encoding that is read is chunked");
        }
        return HttpUtil.getContentLength(request, 0L) > limits.bodyBytes() ? tooLarge() : Optional.empty();
    }

    private static Optional<Item> refused(int status, String message) {
        return Optional.of(new Item.Refused(status, message));
    }

    private Optional<Item> tooLarge() {
        return refused(413, "the body is larger than " + limits.bodyBytes() + " bytes");
    }

    private Optional<Item> append(HttpContent content) {
        ByteBuf bytes = content.content();
        if (body.size() + bytes.readableBytes() > limits.bodyBytes()) {
            return tooLarge();
        }
        byte[] part = new byte[bytes.readableBytes()];
        bytes.readBytes(part);
        body.writeBytes(part);
        return content instanceof LastHttpContent ? Optional.of(whole()) : Optional.empty();
    }

    private Item whole() {
        HttpRequest request = Objects.requireNonNull(head);
        head = null;
        Map<String, String> headers = new HashMap<>();
        request.headers()
                .forEach(header -> headers.putIfAbsent(header.getKey().toLowerCase(Locale.ROOT), header.getValue()));
        String uri = request.uri();
        int query = uri.indexOf('?');
        HttpCall call = new HttpCall(
                request.method().name(),
                query < 0 ? uri : uri.substring(0, query),
                query < 0 ? "" : uri.substring(query + 1),
                headers,
                body.toByteArray(),
                new Arrival(firstByteNanos, headNanos, clock.nanos()));
        body = new ByteArrayOutputStream(0);
        boolean chunked = request.protocolVersion().equals(HttpVersion.HTTP_1_1);
        return new Item.Call(call, chunked && HttpUtil.isKeepAlive(request), chunked);
    }
}
