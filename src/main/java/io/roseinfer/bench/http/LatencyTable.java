package io.roseinfer.bench.http;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** Latency samples of a run's completed requests in milliseconds, by vLLM's names. */
public final class LatencyTable {
    private static final double NANOS_PER_MILLI = 1e6;

    private LatencyTable() {}

    /** Returns latencies since requests were sent: {@code ttft}, {@code tpot}, {@code itl} and {@code e2el}. */
    public static Map<String, double[]> fromSent(LoadResult run) {
        List<CallResult> calls = run.completed();
        Map<String, double[]> table = new LinkedHashMap<>();
        table.put("ttft", ttft(run));
        table.put("tpot", optional(calls, call -> call.tokenTimes().tpotNanos()));
        table.put("itl", itl(calls));
        table.put("e2el", millis(calls, CallResult::latencyNanos));
        return table;
    }

    /** Returns the times to first token since requests were sent. */
    public static double[] ttft(LoadResult run) {
        return optional(run.completed(), CallResult::ttftNanos);
    }

    private static double[] itl(List<CallResult> calls) {
        double[] all = new double
                [Math.toIntExact(
                        calls.stream().mapToLong(call -> call.arrivals().sum()).sum())];
        int latencies = 0;
        for (CallResult call : calls) {
            for (double nanos : call.tokenTimes().itlNanos()) {
                all[latencies++] = nanos / NANOS_PER_MILLI;
            }
        }
        return Arrays.copyOf(all, latencies);
    }

    /** Returns latencies since requests were due: {@code ttft_intended} and {@code e2el_intended}. */
    public static Map<String, double[]> fromDue(LoadResult run) {
        List<CallResult> calls = run.completed();
        Map<String, double[]> table = new LinkedHashMap<>();
        table.put("ttft_intended", optional(calls, CallResult::ttftFromDueNanos));
        table.put("e2el_intended", millis(calls, CallResult::latencyFromDueNanos));
        return table;
    }

    /** Returns the dispatch lag of all requests. */
    public static double[] lag(LoadResult run) {
        return millis(run.calls(), CallResult::lagNanos);
    }

    /** Returns the time that each request waited for a concurrency limit. */
    public static double[] held(LoadResult run) {
        return millis(run.calls(), CallResult::heldNanos);
    }

    private static double[] optional(List<CallResult> calls, Function<CallResult, OptionalDouble> value) {
        double[] all = new double[calls.size()];
        int known = 0;
        for (CallResult call : calls) {
            OptionalDouble nanos = value.apply(call);
            if (nanos.isPresent()) {
                all[known++] = nanos.getAsDouble() / NANOS_PER_MILLI;
            }
        }
        return known == all.length ? all : Arrays.copyOf(all, known);
    }

    private static double[] millis(List<CallResult> calls, ToDoubleFunction<CallResult> nanos) {
        double[] all = new double[calls.size()];
        int next = 0;
        for (CallResult call : calls) {
            all[next++] = nanos.applyAsDouble(call) / NANOS_PER_MILLI;
        }
        return all;
    }
}
