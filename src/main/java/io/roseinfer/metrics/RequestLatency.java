package io.roseinfer.metrics;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.DoubleStream;

/**
 * The latencies of a request to an engine, computed from its timestamps. If the timestamps are in order, the components
 * add up: {@code TOKENIZE + QUEUE_WAIT + PREFILL = TTFT − ADD_REQUEST}. If the submit call itself tokenizes,
 * {@code TOKENIZE} is clamped to zero, and the sum is larger by the clamped amount.
 */
public enum RequestLatency {
    /** submit_end − submit_start. */
    ADD_REQUEST("add_request latency", "ms", stamps -> of(stamps.submitEndNanos() - stamps.submitStartNanos())),
    /** tokenized − submit_end, at least 0; 0 if the submit call tokenized or got token ids. */
    TOKENIZE("Tokenize", "ms", stamps -> of(Math.max(0, stamps.timeline().tokenizedNanos() - stamps.submitEndNanos()))),
    /** admitted − tokenized, at least 0. */
    QUEUE_WAIT(
            "Queue wait (post-tok)",
            "ms",
            stamps -> of(Math.max(
                    0, stamps.timeline().admittedNanos() - stamps.timeline().tokenizedNanos()))),
    /** first token − admitted. */
    PREFILL(
            "Prefill->first token",
            "ms",
            stamps -> of(stamps.firstTokenNanos() - stamps.timeline().admittedNanos())),
    /** first token − submit_start. */
    TTFT("TTFT", "ms", stamps -> of(stamps.firstTokenNanos() - stamps.submitStartNanos())),
    /** {@link TokenTimes#tpotNanos}. */
    TPOT("TPOT", "ms/token", stamps -> stamps.timeline().tokenTimes().tpotNanos().stream()),
    /** {@link TokenTimes#itlNanos}, pooled over all requests. */
    ITL("ITL", "ms", stamps -> DoubleStream.of(stamps.timeline().tokenTimes().itlNanos())),
    /** finished − submit_start. */
    LATENCY("Latency", "ms", stamps -> of(stamps.timeline().finishedNanos() - stamps.submitStartNanos()));

    private final String label;
    private final String unit;

    @SuppressWarnings("ImmutableEnumChecker") // a lambda without state
    private final Function<RequestStamps, DoubleStream> nanos;

    RequestLatency(String label, String unit, Function<RequestStamps, DoubleStream> nanos) {
        this.label = label;
        this.unit = unit;
        this.nanos = nanos;
    }

    private static DoubleStream of(long nanos) {
        return DoubleStream.of((double) nanos);
    }

    /** Returns the printed name, such as {@code Queue wait (post-tok)}. */
    public String label() {
        return label;
    }

    /** Returns the printed unit. */
    public String unit() {
        return unit;
    }

    /** Returns the key in files, such as {@code queue_wait_ms}. */
    public String key() {
        return name().toLowerCase(Locale.ROOT) + "_ms";
    }

    /**
     * Returns a request's samples in nanoseconds: any number for {@link #ITL}, otherwise one, or none with too few
     * tokens.
     */
    public double[] nanos(RequestStamps stamps) {
        return nanos.apply(stamps).toArray();
    }

    /** Returns a summary over all requests, in milliseconds. */
    public Summary millis(List<RequestStamps> requests) {
        return Summary.ofMillis(requests.stream().flatMapToDouble(nanos));
    }
}
