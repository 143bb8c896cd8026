package io.roseinfer.bench.http;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.DoubleStream;

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
        table.put("e2el", millis(calls.stream().mapToDouble(CallResult::latencyNanos)));
        return table;
    }

    /** Returns the times to first token since requests were sent. */
    public static double[] ttft(LoadResult run) {
        return optional(run.completed(), CallResult::ttftNanos);
    }

    private static double[] itl(List<CallResult> calls) {
        double[][] each =
                calls.stream().map(call -> call.tokenTimes().itlNanos()).toArray(double[][]::new);
        double[] all = new double
                [Arrays.stream(each).mapToInt(latencies -> latencies.length).sum()];
        int token = 0;
        for (double[] latencies : each) {
            for (double nanos : latencies) {
                all[token++] = nanos / NANOS_PER_MILLI;
            }
        }
        return all;
    }

    /** Returns latencies since requests were due: {@code ttft_intended} and {@code e2el_intended}. */
    public static Map<String, double[]> fromDue(LoadResult run) {
        List<CallResult> calls = run.completed();
        Map<String, double[]> table = new LinkedHashMap<>();
        table.put("ttft_intended", optional(calls, CallResult::ttftFromDueNanos));
        table.put("e2el_intended", millis(calls.stream().mapToDouble(CallResult::latencyFromDueNanos)));
        return table;
    }

    /** Returns the dispatch lag of all requests. */
    public static double[] lag(LoadResult run) {
        return millis(run.calls().stream().mapToDouble(CallResult::lagNanos));
    }

    /** Returns the time that each request waited for a concurrency limit. */
    public static double[] held(LoadResult run) {
        return millis(run.calls().stream().mapToDouble(CallResult::heldNanos));
    }

    private static double[] optional(List<CallResult> calls, Function<CallResult, OptionalDouble> value) {
        return millis(calls.stream().flatMapToDouble(call -> value.apply(call).stream()));
    }

    private static double[] millis(DoubleStream nanos) {
        return nanos.map(value -> value / NANOS_PER_MILLI).toArray();
    }
}
