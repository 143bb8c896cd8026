package io.roseinfer.metrics;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.DoubleStream;

/**
 * The latencies of a request to an engine, from its timestamps. If these are in order, the parts add up:
 * {@code TOKENIZE + QUEUE_WAIT + PREFILL = TTFT − ADD_REQUEST}. Tokenizing inside the submit call ends before that call returns;
 * {@code TOKENIZE} is then clamped to zero and the sum is larger by exactly what was clamped.
 */
public enum RequestLatency {
    /** submit_end − submit_start. */
    ADD_REQUEST("add_request latency", "ms", stamps -> of(stamps.submitEndNanos() - stamps.submitStartNanos())),
    /** tokenized − submit_end, at least 0: so 0 if the submit call did it, or got token ids. */
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
    /** {@link TokenTimes#itlNanos}; the gaps of all requests are pooled. */
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

    /** Returns the name that is printed, such as {@code Queue wait (post-tok)}. */
    public String label() {
        return label;
    }

    /** Returns the unit that is printed. */
    public String unit() {
        return unit;
    }

    /** Returns the name in files, such as {@code queue_wait_ms}. */
    public String key() {
        return name().toLowerCase(Locale.ROOT) + "_ms";
    }

    /** Returns the samples of a request in nanoseconds: one, or none of a request with too few tokens; of {@link #ITL} any number. */
    public double[] nanos(RequestStamps stamps) {
        return nanos.apply(stamps).toArray();
    }

    /** Returns the samples of many requests together, in milliseconds. */
    public Summary millis(List<RequestStamps> requests) {
        return Summary.ofMillis(requests.stream().flatMapToDouble(nanos));
    }
}
