package io.roseinfer.bench.http;

import io.roseinfer.metrics.Distribution;
import io.roseinfer.metrics.ValueCounts;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** Latencies of a run's completed requests in milliseconds, by vLLM's names. */
public final class LatencyTable {
    private static final double NANOS_PER_MILLI = 1e6;

    private LatencyTable() {}

    /** Returns latencies since requests were sent: {@code ttft}, {@code tpot}, {@code itl} and {@code e2el}. */
    public static Map<String, Distribution> fromSent(LoadResult run) {
        List<CallResult> calls = run.completed();
        Map<String, Distribution> table = new LinkedHashMap<>();
        table.put("ttft", ttft(run));
        table.put("tpot", optional(calls, call -> call.tokenTimes().tpotNanos()));
        table.put("itl", itl(calls));
        table.put("e2el", millis(calls, CallResult::latencyNanos));
        return table;
    }

    /** Returns the times to first token since requests were sent. */
    public static Distribution ttft(LoadResult run) {
        return optional(run.completed(), CallResult::ttftNanos);
    }

    private static Distribution itl(List<CallResult> calls) {
        ValueCounts counts = new ValueCounts();
        for (CallResult call : calls) {
            for (double nanos : call.tokenTimes().itlNanos()) {
                counts.add(Double.doubleToLongBits(nanos / NANOS_PER_MILLI));
            }
        }
        return Distribution.ofBits(counts);
    }

    /** Returns latencies since requests' scheduled times: {@code ttft_intended} and {@code e2el_intended}. */
    public static Map<String, Distribution> fromDue(LoadResult run) {
        List<CallResult> calls = run.completed();
        Map<String, Distribution> table = new LinkedHashMap<>();
        table.put("ttft_intended", optional(calls, CallResult::ttftFromDueNanos));
        table.put("e2el_intended", millis(calls, CallResult::latencyFromDueNanos));
        return table;
    }

    /** Returns the dispatch lag of all requests. */
    public static Distribution lag(LoadResult run) {
        return millis(run.calls(), CallResult::lagNanos);
    }

    /** Returns the time that each request waited for a concurrency limit. */
    public static Distribution held(LoadResult run) {
        return millis(run.calls(), CallResult::heldNanos);
    }

    private static Distribution optional(List<CallResult> calls, Function<CallResult, OptionalDouble> value) {
        double[] all = new double[calls.size()];
        int known = 0;
        for (CallResult call : calls) {
            OptionalDouble nanos = value.apply(call);
            if (nanos.isPresent()) {
                all[known++] = nanos.getAsDouble() / NANOS_PER_MILLI;
            }
        }
        return Distribution.of(known == all.length ? all : Arrays.copyOf(all, known));
    }

    private static Distribution millis(List<CallResult> calls, ToDoubleFunction<CallResult> nanos) {
        double[] all = new double[calls.size()];
        int next = 0;
        for (CallResult call : calls) {
            all[next++] = nanos.applyAsDouble(call) / NANOS_PER_MILLI;
        }
        return Distribution.of(all);
    }
}
