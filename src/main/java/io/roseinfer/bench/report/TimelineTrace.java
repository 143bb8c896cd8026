package io.roseinfer.bench.report;

import io.roseinfer.bench.RunResult;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.EngineResponse;
import io.roseinfer.metrics.RequestStamps;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import tools.jackson.core.JsonGenerator;

/**
 * Writes runs in Chrome's Trace Event format for <a href="https://ui.perfetto.dev">Perfetto</a>: one object with {@code traceEvents};
 * times are microseconds since the first run's start, exact to the nanosecond.
 *
 * <pre>
 * process "run 1", "run 2" …   one per measured run
 *   thread "engine"            a slice per step, named prefill, decode or mixed after its rows, that contains its phases
 *                              plan, pack, device and apply without gaps. Args of a step: step, prefill_tokens,
 *                              decode_rows, waiting, active, free_blocks, cached_tokens, preemptions, as
 *                              {@link io.roseinfer.metrics.StepRecord.Fact} defines them
 *   thread "engine, lane 2"    only if a device has two steps in flight: steps that overlap those above
 *   counters                   waiting, active (requests) and free blocks, one value per step
 *   thread "request 0" …       one per accepted request, by its index in the workload: tokenize (from the submit call until
 *                              its prompt was tokenized), queue (until its batch was passed to the scheduler), prefill (until
 *                              its first token) and decode (until the engine finished it); they add up to its latency.
 *                              Args of prefill: prompt_tokens, cached_tokens; of decode: completion_tokens, finish_reason, engine
 * dropped_steps                steps at the start of a run that an engine no longer kept, summed over all runs
 * </pre>
 *
 * <p>With several engines, each has its own threads and counters: "engine 0", "engine 1", "engine 1: active".
 */
public final class TimelineTrace {
    /** Thread id of request 0; lower ids are threads of engines. */
    private static final int FIRST_REQUEST = 1000;

    private static final List<Fact> STEP_ARGS = List.of(
            Fact.STEP,
            Fact.PREFILL_TOKENS,
            Fact.DECODE_ROWS,
            Fact.WAITING,
            Fact.ACTIVE,
            Fact.FREE_BLOCKS,
            Fact.CACHED_TOKENS,
            Fact.PREEMPTIONS);

    private final JsonGenerator out;
    private final long originNanos;

    private TimelineTrace(JsonGenerator out, long originNanos) {
        this.out = out;
        this.originNanos = originNanos;
    }

    /** Writes at least one run as a document. */
    public static void write(JsonGenerator out, List<RunResult> runs) {
        TimelineTrace trace = new TimelineTrace(out, runs.getFirst().load().startNanos());
        out.writeStartObject();
        out.writeStringProperty("displayTimeUnit", "ms");
        out.writeNumberProperty(
                "dropped_steps",
                runs.stream().mapToLong(TimelineTrace::droppedSteps).sum());
        out.writeArrayPropertyStart("traceEvents");
        for (int i = 0; i < runs.size(); i++) {
            trace.run(i + 1, runs.get(i));
        }
        out.writeEndArray();
        out.writeEndObject();
    }

    /** Returns the number of steps before the first kept one, over all engines. */
    public static long droppedSteps(RunResult run) {
        return byEngine(run.load().steps()).values().stream()
                .mapToLong(steps -> steps.getFirst().get(Fact.STEP))
                .sum();
    }

    private static SortedMap<Long, List<StepRecord>> byEngine(List<StepRecord> steps) {
        return steps.stream()
                .collect(Collectors.groupingBy(step -> step.get(Fact.ENGINE), TreeMap::new, Collectors.toList()));
    }

    private void run(int process, RunResult run) {
        name(process, 0, "process_name", "run " + process);
        SortedMap<Long, List<StepRecord>> engines = byEngine(run.load().steps());
        int threads = 0;
        for (Map.Entry<Long, List<StepRecord>> engine : engines.entrySet()) {
            String name = engines.size() == 1 ? "engine" : "engine " + engine.getKey();
            threads += steps(process, threads + 1, name, engine.getValue());
            counters(process, engines.size() == 1 ? "" : name + ": ", engine.getValue());
        }
        run.requests().forEach(call -> request(process, call));
    }

    private void name(int process, int thread, String what, String name) {
        out.writeStartObject();
        out.writeStringProperty("name", what);
        out.writeStringProperty("ph", "M");
        out.writeNumberProperty("pid", process);
        out.writeNumberProperty("tid", thread);
        out.writeObjectPropertyStart("args");
        out.writeStringProperty("name", name);
        out.writeEndObject();
        out.writeEndObject();
    }

    /**
     * Writes an engine's steps. Slices of a thread must nest, so overlapping steps are on different threads.
     *
     * @return the number of threads used
     */
    private int steps(int process, int firstThread, String engine, List<StepRecord> steps) {
        List<Long> laneEnds = new ArrayList<>();
        for (StepRecord step : steps) {
            int lane = 0;
            while (lane < laneEnds.size() && laneEnds.get(lane) > step.get(Fact.START_NANOS)) {
                lane++;
            }
            if (lane == laneEnds.size()) {
                laneEnds.add(step.endNanos());
                name(process, firstThread + lane, "thread_name", lane == 0 ? engine : engine + ", lane " + (lane + 1));
            } else {
                laneEnds.set(lane, step.endNanos());
            }
            step(process, firstThread + lane, step);
        }
        return laneEnds.size();
    }

    private void counters(int process, String prefix, List<StepRecord> steps) {
        for (StepRecord step : steps) {
            long nanos = step.plannedNanos();
            counter(process, prefix + "waiting", nanos, step.get(Fact.WAITING));
            counter(process, prefix + "active", nanos, step.get(Fact.ACTIVE));
            counter(process, prefix + "free blocks", nanos, step.get(Fact.FREE_BLOCKS));
        }
    }

    private void step(int process, int thread, StepRecord step) {
        beginSlice(process, thread, kind(step), "step", step.get(Fact.START_NANOS), step.endNanos());
        out.writeObjectPropertyStart("args");
        for (Fact fact : STEP_ARGS) {
            out.writeNumberProperty(fact.key(), step.get(fact));
        }
        out.writeEndObject();
        out.writeEndObject();
        long planned = step.plannedNanos();
        long packed = step.packedNanos();
        long awaited = step.awaitedNanos();
        slice(process, thread, "plan", "phase", step.get(Fact.START_NANOS), planned);
        slice(process, thread, "pack", "phase", planned, packed);
        slice(process, thread, "device", "phase", packed, awaited);
        slice(process, thread, "apply", "phase", awaited, step.endNanos());
    }

    private static String kind(StepRecord step) {
        if (step.get(Fact.DECODE_ROWS) == 0) {
            return "prefill";
        }
        return step.get(Fact.PREFILL_TOKENS) == 0 ? "decode" : "mixed";
    }

    private void request(int process, CallResult call) {
        int thread = FIRST_REQUEST + call.id();
        EngineResponse response = call.engine().orElseThrow();
        RequestStamps stamps = response.stamps();
        RequestTimeline timeline = stamps.timeline();
        name(process, thread, "thread_name", "request " + call.id());
        slice(process, thread, "tokenize", "request", stamps.submitStartNanos(), timeline.tokenizedNanos());
        slice(process, thread, "queue", "request", timeline.tokenizedNanos(), timeline.admittedNanos());
        beginSlice(process, thread, "prefill", "request", timeline.admittedNanos(), stamps.firstTokenNanos());
        out.writeObjectPropertyStart("args");
        out.writeNumberProperty("prompt_tokens", call.usage().promptTokens());
        out.writeNumberProperty("cached_tokens", call.cachedTokens());
        out.writeEndObject();
        out.writeEndObject();
        beginSlice(process, thread, "decode", "request", stamps.firstTokenNanos(), timeline.finishedNanos());
        out.writeObjectPropertyStart("args");
        out.writeNumberProperty("completion_tokens", stamps.tokens());
        out.writeStringProperty("finish_reason", response.finishReason().text());
        out.writeNumberProperty("engine", timeline.replica());
        out.writeEndObject();
        out.writeEndObject();
    }

    private void slice(int process, int thread, String name, String category, long startNanos, long endNanos) {
        beginSlice(process, thread, name, category, startNanos, endNanos);
        out.writeEndObject();
    }

    /** Starts a slice without args; the caller ends the object. */
    private void beginSlice(int process, int thread, String name, String category, long startNanos, long endNanos) {
        out.writeStartObject();
        out.writeStringProperty("name", name);
        out.writeStringProperty("cat", category);
        out.writeStringProperty("ph", "X");
        out.writeNumberProperty("ts", micros(startNanos - originNanos));
        out.writeNumberProperty("dur", micros(endNanos - startNanos));
        out.writeNumberProperty("pid", process);
        out.writeNumberProperty("tid", thread);
    }

    private void counter(int process, String name, long nanos, long value) {
        out.writeStartObject();
        out.writeStringProperty("name", name);
        out.writeStringProperty("ph", "C");
        out.writeNumberProperty("ts", micros(nanos - originNanos));
        out.writeNumberProperty("pid", process);
        out.writeObjectPropertyStart("args");
        out.writeNumberProperty("value", value);
        out.writeEndObject();
        out.writeEndObject();
    }

    /** Returns microseconds with three decimals; a double would be written with an exponent from ten seconds on, which some readers reject. */
    private static BigDecimal micros(long nanos) {
        return BigDecimal.valueOf(nanos, 3);
    }
}
