package io.roseinfer.server.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequestDecoder;
import java.util.List;

/**
 * Netty's decoder with three additions: it rejects two lengths for one body, reports every arrival of bytes, and can be
 * paused between messages.
 */
final class RequestDecoder extends HttpRequestDecoder {
    /** Maximum bytes of a request line. */
    static final int LINE_BYTES = 8192;

    private final Runnable bytesArrived;
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
        if (!paused) {
            super.decode(context, bytes, out);
        }
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
