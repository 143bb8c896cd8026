package io.roseinfer.bench.replay;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.model.ModelSpec;

/**
 * The transfer of a prompt's keys and values to a decode engine. A prefill engine sends one request at a time, from the
 * request's first token on; a decode engine receives any number at a time.
 *
 * @param nanosPerToken sending time per prompt token; 0 if the network is infinitely fast
 * @param latencyNanos from the end of sending until a decode engine can admit the request
 */
public record KvTransfer(double nanosPerToken, long latencyNanos) {
    private static final double NANOS_PER_SECOND = 1e9;

    public KvTransfer {
        BadInput.require(
                nanosPerToken >= 0 && nanosPerToken <= Long.MAX_VALUE,
                "nanosPerToken",
                nanosPerToken,
                "0 or positive and finite");
        BadInput.require(latencyNanos >= 0, "latencyNanos", latencyNanos, "at least 0");
    }

    /**
     * Returns the transfer of a model's keys and values, with elements of two bytes.
     *
     * @param bytesPerSecond positive; may be infinite
     */
    public static KvTransfer of(ModelSpec model, double bytesPerSecond, long latencyNanos) {
        return new KvTransfer(NANOS_PER_SECOND * Roofline.kvTokenBytes(model) / bytesPerSecond, latencyNanos);
    }

    /** Returns the time that sending takes. */
    long sendingNanos(int promptTokens) {
        return Math.round(promptTokens * nanosPerToken);
    }
}
