package io.roseinfer.server.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpVersion;
import java.util.List;

/**
 * Netty's decoder with four additions: it rejects two lengths for one body, recognizes TLS, reports every arrival of
 * bytes, and can be paused between messages.
 */
final class RequestDecoder extends HttpRequestDecoder {
    /** Maximum bytes of a request line. */
    static final int LINE_BYTES = 8192;

    /** The first two bytes of a connection whose client speaks TLS: a record with a handshake, of any version. */
    private static final int TLS_HANDSHAKE = 0x1603;

    /** The failure of a request that is a TLS handshake. */
    static final class TlsHandshake extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;
    }

    private final Runnable bytesArrived;
    private boolean begun;
    private boolean isTls;
    private boolean paused;

    RequestDecoder(HttpLimits limits, Runnable bytesArrived) {
        super(new HttpDecoderConfig()
                .setMaxInitialLineLength(LINE_BYTES)
                .setMaxHeaderSize(limits.headerBytes())
                .setAllowDuplicateContentLengths(false));
        this.bytesArrived = bytesArrived;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object bytes) throws Exception {
        bytesArrived.run();
        super.channelRead(context, bytes);
    }

    /** Stops decoding: bytes that were read stay undecoded until {@link #resume}. */
    void pause() {
        paused = true;
    }

    /** Resumes decoding with the bytes read before the pause. */
    void resume(ChannelHandlerContext context) throws Exception {
        paused = false;
        if (actualReadableBytes() > 0) {
            bytesArrived.run();
            super.channelRead(context, Unpooled.EMPTY_BUFFER);
        }
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf bytes, List<Object> out) throws Exception {
        if (!begun) {
            if (bytes.readableBytes() < Short.BYTES) {
                return;
            }
            begun = true;
            isTls = bytes.getUnsignedShort(bytes.readerIndex()) == TLS_HANDSHAKE;
            if (isTls) {
                out.add(tlsHandshake());
            }
        }
        if (isTls) {
            bytes.skipBytes(bytes.readableBytes());
        } else if (!paused) {
            super.decode(context, bytes, out);
        }
    }

    /** Returns an undecodable request. */
    private static HttpRequest tlsHandshake() {
        HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_0, HttpMethod.GET, "/");
        request.setDecoderResult(DecoderResult.failure(new TlsHandshake()));
        return request;
    }

    /**
     * Rejects a request with both lengths: a proxy may use the other one, and what it takes for a body could be another
     * request (request smuggling).
     */
    @Override
    protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
        throw new IllegalArgumentException("Content-Length and Transfer-Encoding in one request");
    }
}
