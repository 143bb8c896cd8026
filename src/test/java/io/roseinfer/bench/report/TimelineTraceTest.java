package io.roseinfer.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.Clock;
import io.roseinfer.base.StrictJson;
import io.roseinfer.bench.RunListener;
import io.roseinfer.bench.RunResult;
import io.roseinfer.bench.Sim;
import io.roseinfer.bench.StreamingBenchmark;
import io.roseinfer.bench.WarmUp;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.metrics.RequestLatency;
import io.roseinfer.metrics.RequestStamps;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.StepRecords;
import io.roseinfer.metrics.WritableStep;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

class TimelineTraceTest {
    private static final List<String> PHASES = List.of("plan", "pack", "device", "apply");
    private static final List<String> SPANS = List.of("tokenize", "queue", "prefill", "decode");

    @TempDir
    Path folder;

    private record Slice(String name, long thread, long startNanos, long endNanos) {
        static Slice of(JsonNode event) {
            long start = nanos(event, "ts");
            return new Slice(
                    event.get("name").stringValue(), event.get("tid").longValue(), start, start + nanos(event, "dur"));
        }
    }

    private static long nanos(JsonNode event, String field) {
        return Math.round(event.get(field).doubleValue() * 1e3);
    }

    private JsonNode trace(List<RunResult> runs) throws IOException {
        Path file = folder.resolve("trace.json");
        ResultFile.at("--timeline", file).write(out -> TimelineTrace.write(out, runs));
        return StrictJson.parse(Files.readAllBytes(file));
    }

    private static RunResult simulated() {
        Clock clock = Clock.system();
        RunListener silent = new RunListener() {
            @Override
            public void started(Phase phase, int number, int of, int requests) {}

            @Override
            public void requestEnded() {}

            @Override
            public void finished(Phase phase, RunResult result) {}

            @Override
            public void warmedUp(WarmUp warmUp) {}
        };
        return new StreamingBenchmark(
                        () -> Sim.engine(Sim.options(true), step -> {}, clock),
                        Sim.load(12, 5, 7),
                        Sim.template(),
                        clock,
                        silent)
                .run(OptionalInt.of(0), 1)
                .measured()
                .getFirst();
    }

    private static List<JsonNode> events(JsonNode trace, String phase) {
        return StreamSupport.stream(trace.get("traceEvents").spliterator(), false)
                .filter(event -> event.get("ph").stringValue().equals(phase))
                .toList();
    }

    private static List<Slice> slices(JsonNode trace, String category) {
        return events(trace, "X").stream()
                .filter(event -> event.get("cat").stringValue().equals(category))
                .map(Slice::of)
                .toList();
    }

    @Test
    void steps_consist_of_their_phases_and_do_not_overlap() throws IOException {
        RunResult run = simulated();
        JsonNode trace = trace(List.of(run));
        List<Slice> steps = slices(trace, "step");
        List<Slice> phases = slices(trace, "phase");
        assertThat(steps).hasSameSizeAs(run.load().steps()).isNotEmpty();
        assertThat(phases).hasSize(4 * steps.size());
        for (int i = 0; i < steps.size(); i++) {
            Slice step = steps.get(i);
            List<Slice> inside = phases.subList(4 * i, 4 * i + 4);
            assertThat(inside).extracting(Slice::name).isEqualTo(PHASES);
            assertContiguous(inside, step.startNanos(), step.endNanos());
            if (i > 0) {
                assertThat(step.startNanos())
                        .isGreaterThanOrEqualTo(steps.get(i - 1).endNanos());
            }
        }
    }

    private static void assertContiguous(List<Slice> slices, long startNanos, long endNanos) {
        long at = startNanos;
        for (Slice slice : slices) {
            assertThat(slice.startNanos()).as(slice.toString()).isEqualTo(at);
            assertThat(slice.endNanos()).as(slice.toString()).isGreaterThanOrEqualTo(at);
            at = slice.endNanos();
        }
        assertThat(at).isEqualTo(endNanos);
    }

    @Test
    void request_spans_add_up_to_the_latency() throws IOException {
        RunResult run = simulated();
        List<Slice> spans = slices(trace(List.of(run)), "request");
        assertThat(run.requests()).hasSize(12);
        for (CallResult request : run.requests()) {
            List<Slice> own = spans.stream()
                    .filter(span -> span.thread() == 1000 + request.id())
                    .toList();
            assertThat(own).extracting(Slice::name).isEqualTo(SPANS);
            RequestStamps stamps = request.engine().orElseThrow().stamps();
            long start = stamps.submitStartNanos() - run.load().startNanos();
            assertContiguous(own, start, start + (long) RequestLatency.LATENCY.nanos(stamps)[0]);
        }
    }

    @Test
    void counters_follow_the_steps() throws IOException {
        RunResult run = simulated();
        List<JsonNode> free = events(trace(List.of(run)), "C").stream()
                .filter(event -> event.get("name").stringValue().equals("free blocks"))
                .toList();
        assertThat(free)
                .extracting(event -> event.at("/args/value").longValue())
                .containsExactlyElementsOf(run.load().steps().stream()
                        .map(step -> step.get(Fact.FREE_BLOCKS))
                        .toList());
    }

    private static WritableStep step(long number, long startUs, int prefillTokens, int decodeRows) {
        Map<Fact, Long> facts = new EnumMap<>(Map.of(
                Fact.PLAN_NANOS, 1_500L,
                Fact.PACK_NANOS, 500L,
                Fact.DEVICE_NANOS, 20_000L,
                Fact.APPLY_NANOS, 1_001L,
                Fact.WAITING, 7L,
                Fact.ACTIVE, 2L,
                Fact.FREE_BLOCKS, 90L,
                Fact.CACHED_TOKENS, 16L,
                Fact.PREEMPTIONS, 1L));
        facts.put(Fact.STEP, number);
        facts.put(Fact.START_NANOS, Results.nanos(startUs));
        facts.put(Fact.PREFILL_TOKENS, (long) prefillTokens);
        facts.put(Fact.DECODE_ROWS, (long) decodeRows);
        return StepRecords.step(facts);
    }

    private static RunResult withSteps(StepRecord... steps) {
        return Results.run(List.of(), 0, 10, List.of(), List.of(steps), List.of());
    }

    @Test
    void step_has_its_facts_and_nanosecond_times() throws IOException {
        RunResult run = withSteps(step(3, 12_000_000, 40, 2));
        assertThat(events(trace(List.of(run)), "X").getFirst())
                .hasToString("{\"name\":\"mixed\",\"cat\":\"step\",\"ph\":\"X\",\"ts\":1.2E7,\"dur\":23.001,\"pid\":1,"
                        + "\"tid\":1,\"args\":{\"step\":3,\"prefill_tokens\":40,\"decode_rows\":2,\"waiting\":7,"
                        + "\"active\":2,\"free_blocks\":90,\"cached_tokens\":16,\"preemptions\":1}}");
        assertThat(Files.readString(folder.resolve("trace.json")))
                .contains("\"ts\":12000000.000")
                .contains("\"dropped_steps\":3");
    }

    @Test
    void overlapping_steps_are_on_separate_threads() throws IOException {
        JsonNode trace = trace(List.of(withSteps(step(0, 0, 4, 0), step(1, 10, 0, 1), step(2, 24, 0, 1))));
        assertThat(slices(trace, "step")).extracting(Slice::thread).containsExactly(1L, 2L, 1L);
        assertThat(slices(trace, "step")).extracting(Slice::name).containsExactly("prefill", "decode", "decode");
    }

    private static StepRecord of(int engine, WritableStep step) {
        step.set(Fact.ENGINE, engine);
        return step;
    }

    @Test
    void engines_have_separate_threads_and_counters() throws IOException {
        RunResult run = withSteps(
                of(0, step(2, 0, 4, 0)), of(1, step(3, 10, 0, 1)), of(0, step(3, 11, 0, 1)), of(1, step(4, 50, 0, 1)));
        JsonNode trace = trace(List.of(run));
        assertThat(slices(trace, "step")).extracting(Slice::thread).containsExactly(1L, 2L, 3L, 3L);
        assertThat(events(trace, "M"))
                .extracting(
                        event -> event.get("tid") + " " + event.at("/args/name").stringValue())
                .containsExactly("0 run 1", "1 engine 0", "2 engine 0, lane 2", "3 engine 1");
        assertThat(events(trace, "C"))
                .extracting(event -> event.get("name").stringValue())
                .filteredOn(name -> name.endsWith("active"))
                .containsExactly("engine 0: active", "engine 0: active", "engine 1: active", "engine 1: active");
        assertThat(TimelineTrace.droppedSteps(run)).isEqualTo(2 + 3);
    }

    @Test
    void runs_are_separate_processes() throws IOException {
        RunResult run = withSteps(step(0, 0, 4, 0));
        List<String> processes = new ArrayList<>();
        for (JsonNode event : events(trace(List.of(run, run)), "M")) {
            if (event.get("name").stringValue().equals("process_name")) {
                processes.add(event.get("pid").intValue() + " "
                        + event.at("/args/name").stringValue());
            }
        }
        assertThat(processes).containsExactly("1 run 1", "2 run 2");
    }
}
