package io.roseinfer.server;

import io.roseinfer.server.http.Response;
import java.io.OutputStream;
import java.util.Arrays;

/** Sends a JSON text: as one response if it is short, else in parts while it is written. For one thread. */
final class JsonParts extends OutputStream {
    private static final int PART_BYTES = 32 << 10;

    private final Exchange exchange;
    private final Response response;
    private final byte[] part = new byte[PART_BYTES];
    private int size;

    JsonParts(Exchange exchange, Response response) {
        this.exchange = exchange;
        this.response = response;
    }

    @Override
    public void write(int one) {
        write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int count) {
        int done = 0;
        while (done < count) {
            if (size == PART_BYTES) {
                if (!response.hasBegun()) {
                    exchange.beginJson(response);
                }
                sendPart();
            }
            int copied = Math.min(count - done, PART_BYTES - size);
            System.arraycopy(bytes, from + done, part, size, copied);
            size += copied;
            done += copied;
        }
    }

    /** Sends the bytes written since the last part, in a copy that may be sent later. */
    private void sendPart() {
        response.write(Arrays.copyOf(part, size));
        size = 0;
    }

    /** Ends the response after the last byte. */
    void end() {
        if (response.hasBegun()) {
            sendPart();
            response.end();
        } else {
            response.send(exchange.reply(Arrays.copyOf(part, size)));
        }
    }
}
