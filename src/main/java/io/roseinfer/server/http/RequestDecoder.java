package io.roseinfer.server.http;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequestDecoder;

/** Netty's decoder, with two lengths for one body refused, and with word of every arrival of bytes. */
final class RequestDecoder extends HttpRequestDecoder {
    private static final int LINE_BYTES = 8192;

    private final Runnable bytesArrived;

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

    /** A proxy in front may believe the other length: what it takes for a body could hold another request. */
    @Override
    protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
        throw new IllegalArgumentException("Content-Length and Transfer-Encoding in one request");
    }
}
