package io.roseinfer.bench.replay;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.http.ServerStamps;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.bench.load.PromptSource;
import io.roseinfer.bench.report.Attribution;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.bench.report.ResultFile;
import io.roseinfer.bench.report.ResultJson;
import io.roseinfer.bench.report.ResultKind;
import io.roseinfer.bench.report.ServeResult;
import io.roseinfer.engine.Prompt;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A run recorded by {@code bench serve --json}.
 *
 * @param name name of its file
 * @param command the arguments of its command, including {@code bench serve}
 * @param result its result; the run starts at 0
 * @param kvBlocks blocks of its engine's KV pool, or 0 if unknown
 * @param verdict its validity
 * @param model the model that it ran
 * @param origin its device, date and commit in words, as far as known
 */
public record RecordedRun(
        String name,
        List<String> command,
        LoadResult result,
        int kvBlocks,
        RunValidity verdict,
        RecordedModel model,
        String origin) {
    private static final int MAX_SAMPLES = 1 << 16;

    /** Settings and parts of the machine on which step costs depend. */
    private static final List<String> OF_COSTS =
            List.of("model", "model_shape", "dtype", "kv_cache_dtype", "device", "threads", "cpu", "gpu");

    /** The device of simulated steps. */
    private static final String SIMULATED = "sim";

    /** Every byte-level BPE model has at least this many tokens. */
    private static final int MIN_VOCABULARY = 256;

    public RecordedRun {
        command = List.copyOf(command);
    }

    /**
     * Reads a result file.
     *
     * @throws BadInput if it was not written by {@code bench serve}, or is inconsistent
     */
    public static RecordedRun read(Path file) {
        return readAll(List.of(file)).getFirst();
    }

    /**
     * Reads result files of one model on one device.
     *
     * @throws BadInput if a file was not written by {@code bench serve}, is inconsistent, has another model, dtype, machine or
     *     number of threads than the first, or is given twice
     */
    public static List<RecordedRun> readAll(List<Path> files) {
        List<RecordedRun> runs = new ArrayList<>();
        Map<String, @Nullable Object> first = Map.of();
        for (Path file : files) {
            ServeResult result = result(file);
            Map<String, @Nullable Object> settings =
                    new HashMap<>(result.roseinfer().settings());
            settings.put("cpu", result.roseinfer().environment().cpu().orElse("unknown"));
            settings.put("gpu", result.roseinfer().environment().gpu().orElse("none"));
            first = runs.isEmpty() ? settings : first;
            for (String setting : OF_COSTS) {
                if (!Objects.equals(settings.get(setting), first.get(setting))) {
                    throw new BadInput(
                            FileFailure.shown(file) + " has " + setting + " " + settings.get(setting) + ", but "
                                    + runs.getFirst().name() + " has " + first.get(setting)
                                    + "; step costs are of one model on one device");
                }
            }
            requireNew(FileFailure.shown(file), result.run().steps(), runs);
            int kvBlocks = settings.get("kv_blocks") instanceof Number blocks ? blocks.intValue() : 0;
            runs.add(new RecordedRun(
                    FileFailure.shown(file),
                    result.roseinfer().command(),
                    result.run(),
                    kvBlocks,
                    result.roseinfer().validity(),
                    new RecordedModel(text(settings, "model"), text(settings, "model_shape")),
                    origin(result, text(settings, "device"))));
        }
        return List.copyOf(runs);
    }

    /** Rejects a recording of the same steps as an earlier one, which would count twice. */
    private static void requireNew(String name, List<StepRecord> steps, List<RecordedRun> earlier) {
        for (RecordedRun run : earlier) {
            if (!steps.isEmpty() && steps.equals(run.result.steps())) {
                throw new BadInput((run.name.equals(name)
                                ? name + " is given twice"
                                : name + " is the same recording as " + run.name)
                        + "; each file must be of another run: leave one out");
            }
        }
    }

    private static String origin(ServeResult result, String device) {
        Environment environment = result.roseinfer().environment();
        Optional<String> machine = device.equals(SIMULATED)
                ? Optional.of("device " + SIMULATED)
                : environment.gpu().or(environment::cpu);
        Optional<String> commit = environment.commit().map(hash -> "commit " + hash.replaceFirst("(?<=^.{8}).*", ""));
        String date = result.vllm().get("date") instanceof String instant ? instant.replaceFirst("T.*", "") : "";
        return Stream.of(machine.orElse(""), date, commit.orElse(""))
                .filter(word -> !word.isEmpty())
                .collect(Collectors.joining(", "));
    }

    private static String text(Map<String, @Nullable Object> settings, String key) {
        return settings.get(key) instanceof String value ? value : "";
    }

    private static ServeResult result(Path file) {
        JsonNode root = ResultFile.read(file);
        Optional<ResultKind> kind = ResultKind.of(root);
        if (!kind.equals(Optional.of(ResultKind.SERVE))) {
            throw new BadInput(FileFailure.shown(file)
                    + kind.map(other -> " was written by " + other.command()
                                    + ", whose files lack what a replay needs: the load's flags and the engine's steps")
                            .orElse(" is not a result file of a benchmark")
                    + "; record a run with bench serve --backend engine --json FILE");
        }
        ServeResult result = ResultJson.read(FileFailure.shown(file), root, ServeResult.class);
        requireWhole(FileFailure.shown(file), root, result);
        return result;
    }

    /** Rejects inconsistent values. */
    private static void requireWhole(String name, JsonNode document, ServeResult result) {
        if (!(document.path("duration").asDouble(0) > 0)) {
            throw ResultJson.wrong(name, document, "/duration", "a positive number");
        }
        List<ServeResult.Request> requests = result.roseinfer().requests();
        for (int i = 0; i < requests.size(); i++) {
            String place = "/roseinfer/requests/" + i;
            if (requests.get(i).id() != i) {
                throw ResultJson.wrong(name, document, place + "/id", "the request's index, " + i);
            }
            int events = requests.get(i).eventNanos().length;
            int counts = requests.get(i).eventTokens().length;
            if (counts > 0 && counts != events) {
                throw ResultJson.wrong(
                        name,
                        document,
                        place + "/event_tokens",
                        "a count for each of the " + events + " events, or none");
            }
        }
        result.roseinfer().steps().ifPresent(steps -> {
            for (int i = 0; i < steps.rows().size(); i++) {
                if (steps.rows().get(i).length != steps.columns().size()) {
                    throw ResultJson.wrong(
                            name,
                            document,
                            "/roseinfer/steps/rows/" + i,
                            "a number for each of the " + steps.columns().size() + " columns");
                }
            }
        });
    }

    /**
     * Returns the load of this run after verifying it against the recorded requests.
     *
     * @param load the load created by the run's flags
     * @param exactly whether to use the recorded completion lengths, and to replace text prompts by as many token ids
     * @throws BadInput if the requests differ, because the dataset or its generator has changed
     */
    public OfferedLoad again(OfferedLoad load, boolean exactly) {
        if (command.stream().anyMatch(word -> word.startsWith("--trim-"))) {
            throw new BadInput(
                    name + " lacks the requests that --trim-warmup-s or --trim-cooldown-s left out; record a run"
                            + " without them");
        }
        if (load.hasConversations()) {
            throw new BadInput(name + " has conversations, which cannot be replayed: their later turns depend on the"
                    + " answers; run its command with --backend sim instead");
        }
        if (load.requests().size() != result.calls().size()) {
            throw new BadInput(name + " has " + result.calls().size() + " requests, but its command makes "
                    + load.requests().size() + "; the dataset must be unchanged");
        }
        List<OfferedRequest> requests = new ArrayList<>();
        for (CallResult call : result.calls()) {
            OfferedRequest request = load.requests().get(call.id());
            boolean differs =
                    call.promptTokens() != request.promptTokens() || call.askedTokens() != request.outputTokens();
            if (differs) {
                throw new BadInput(name + " has other lengths at request " + call.id()
                        + " than its command makes; the dataset must be unchanged");
            }
            requests.add(exactly ? exact(call, request) : request);
        }
        return new OfferedLoad(requests, load.pacing());
    }

    private static OfferedRequest exact(CallResult call, OfferedRequest request) {
        int tokens = call.isComplete() && call.tokens() > 0 ? call.tokens() : request.outputTokens();
        OfferedRequest ids = request.promptTokens() >= 0
                ? request
                : request.withSource(new UniqueIds(call.id(), Math.max(1, call.inputTokens())));
        return ids.withConstraints(Optional.empty()).withOutputTokens(tokens);
    }

    /** Token ids instead of the text of a request, as many as it had, which no other request has. */
    private record UniqueIds(int request, int tokens) implements PromptSource {
        @Override
        public Prompt prompt() {
            int[] ids = new int[tokens];
            for (int i = 0; i < ids.length; i++) {
                ids[i] = (int) (SplitMix64.uniform(request, i) * MIN_VOCABULARY);
            }
            return new Prompt.Tokens(ids);
        }
    }

    /**
     * Returns the durations in this run, with the machine's pace over time.
     *
     * @throws BadInput if its steps cannot be used
     */
    public StepTimes times() {
        return times(List.of(this));
    }

    /**
     * Returns the durations in several runs. Step costs are fitted together; the first run has the times outside of steps. The pace
     * repeats one run after another.
     *
     * @param runs at least one
     * @throws BadInput if steps of a run cannot be used
     */
    static StepTimes times(List<RecordedRun> runs) {
        runs.forEach(RecordedRun::requireSteps);
        CostTable costs = CostFit.fit(samples(runs));
        HostTimes host = runs.getFirst().host();
        RecordedPace.Builder pace = new RecordedPace.Builder();
        runs.forEach(run -> run.addPace(pace, costs, host.iterationNanos()));
        return new StepTimes(costs, pace.build(), host);
    }

    /** Returns the steps of several runs with their durations. */
    static List<CostFit.Sample> samples(List<RecordedRun> runs) {
        return runs.stream().flatMap(run -> run.samples().stream()).toList();
    }

    private void requireSteps() {
        if (result.steps().isEmpty()) {
            throw new BadInput(name
                    + " has no engine steps, so step times are unknown; record a run with bench serve --backend"
                    + " engine --json FILE, give such a file with --step-costs, or replay with --backend http");
        }
        requireOneEngine();
        requireNoDrafts();
        requireAllSteps();
    }

    /**
     * Rejects a run of several engines: step and delivery times are measured for one.
     *
     * @throws BadInput if requests or steps are of several engines
     */
    public void requireOneEngine() {
        Stream<Long> ofSteps = result.steps().stream().map(step -> step.get(Fact.ENGINE));
        Stream<Long> ofCalls = result.calls().stream()
                .flatMap(call -> call.server().stream())
                .map(stamps -> (long) stamps.served().engine());
        long engines = Stream.concat(ofSteps, ofCalls).distinct().count();
        if (engines > 1) {
            throw new BadInput(name + " was recorded on " + engines
                    + " engines, but simulated time takes its costs from one; record a run of one engine, without --replicas and"
                    + " with one --device");
        }
    }

    /** Rejects a run with drafts: simulated tokens are others, so other drafts would be accepted. */
    private void requireNoDrafts() {
        if (result.steps().stream().anyMatch(step -> step.get(Fact.DRAFTS) > 0)) {
            throw new BadInput(
                    name + " was recorded with --speculate, whose drafts depend on the text; record a run without it,"
                            + " and simulate drafts by --speculate synthetic:RATES");
        }
    }

    /** Rejects a run with missing steps: its pace would describe only a part of the run. */
    private void requireAllSteps() {
        List<StepRecord> steps = result.steps();
        boolean hasGap = IntStream.range(1, steps.size())
                .anyMatch(i -> steps.get(i).get(Fact.STEP) != steps.get(i - 1).get(Fact.STEP) + 1);
        if (hasGap || !Attribution.of(result).hasAllSteps()) {
            throw new BadInput(name + " lacks steps of the run: the engine keeps only the last ones, " + steps.size()
                    + " here; record a shorter run");
        }
    }

    /** Adds the pace of every step, and of the host between consecutive steps. */
    private void addPace(RecordedPace.Builder pace, CostTable costs, long iterationNanos) {
        List<CostFit.Sample> samples = samples();
        long before = Long.MAX_VALUE;
        for (int i = 0; i < samples.size(); i++) {
            StepRecord step = result.steps().get(i);
            long ends = step.endNanos();
            long begins = ends - Math.round(samples.get(i).nanos());
            if (step.get(Fact.DECODE_ROWS) > 0 && begins > before) {
                pace.add(before, begins, (double) iterationNanos);
            }
            pace.add(begins, ends, costs.nanos(samples.get(i).shape()));
            before = ends;
        }
        pace.endRun();
    }

    /** Returns a pace that resamples the durations of runs relative to their common costs. */
    static Pace resampledPace(List<RecordedRun> runs, CostModel costs, long seed) {
        List<CostFit.Sample> samples = samples(runs);
        return Pace.resampled(
                samples.stream()
                        .mapToDouble(sample -> costs.nanos(sample.shape()))
                        .toArray(),
                samples.stream().mapToDouble(CostFit.Sample::nanos).toArray(),
                seed);
    }

    /** Returns the steps in flight at a time: two if most steps were launched before the previous one ended. */
    public int inFlight() {
        List<StepRecord> steps = result.steps();
        long overlapped = IntStream.range(1, steps.size())
                .filter(i ->
                        steps.get(i).get(Fact.START_NANOS) < steps.get(i - 1).endNanos())
                .count();
        return 2 * overlapped > steps.size() ? 2 : 1;
    }

    private List<CostFit.Sample> samples() {
        return samplesOf(result.steps());
    }

    /** Returns steps with their durations, from the start of a step or the end of the previous one if they overlap. */
    static List<CostFit.Sample> samplesOf(List<StepRecord> steps) {
        List<CostFit.Sample> samples = new ArrayList<>();
        long before = Long.MIN_VALUE;
        for (int i = 0; i < steps.size(); i++) {
            StepRecord step = steps.get(i);
            long begin = Math.max(step.get(Fact.START_NANOS), before);
            before = step.endNanos();
            StepShape shape = StepShape.of(step);
            boolean late = shape.isDecode()
                    && i + 1 < steps.size()
                    && steps.get(i + 1).get(Fact.START_NANOS) < before
                    && !StepShape.of(steps.get(i + 1)).isDecode();
            samples.add(new CostFit.Sample(shape, Math.max(1, before - begin), late));
        }
        return samples;
    }

    HostTimes host() {
        List<StepRecord> steps = result.steps();
        List<Long> turns = new ArrayList<>();
        for (int i = 1; i < steps.size(); i++) {
            if (steps.get(i).get(Fact.DECODE_ROWS) > 0) {
                turns.add(Math.max(
                        0, steps.get(i).get(Fact.START_NANOS) - steps.get(i - 1).endNanos()));
            }
        }
        List<Long> arriving = new ArrayList<>();
        List<Long> first = new ArrayList<>();
        List<Long> later = new ArrayList<>();
        for (CallResult call : result.completed()) {
            call.server().ifPresent(stamps -> {
                arriving.add(Math.max(0, stamps.tokenizedNanos() - call.times().sentNanos()));
                deliveries(call.arrivals().nanos(), stamps.tokenNanos(), first, later);
            });
        }
        return new HostTimes(median(turns), wake(), arriving, first, later);
    }

    private static void deliveries(long[] seen, long[] had, List<Long> first, List<Long> later) {
        if (had.length != seen.length) {
            return;
        }
        for (int i = 0; i < had.length && later.size() < MAX_SAMPLES; i++) {
            (i == 0 ? first : later).add(Math.max(0, seen[i] - had[i]));
        }
    }

    /** Returns the median time from a request's arrival at an idle engine until its step starts. */
    private long wake() {
        NavigableMap<Long, Long> ends = new TreeMap<>();
        result.steps().forEach(step -> ends.put(step.get(Fact.START_NANOS), step.endNanos()));
        List<Long> waits = new ArrayList<>();
        for (CallResult call : result.completed()) {
            call.server()
                    .filter(stamps -> stamps.admittedNanos() != ServerStamps.UNKNOWN)
                    .ifPresent(stamps -> {
                        Map.Entry<Long, Long> before = ends.floorEntry(stamps.tokenizedNanos());
                        Map.Entry<Long, Long> next = ends.higherEntry(stamps.tokenizedNanos());
                        boolean idle = before == null || before.getValue() < stamps.tokenizedNanos();
                        if (idle && next != null && stamps.admittedNanos() <= next.getKey()) {
                            waits.add(next.getKey() - stamps.tokenizedNanos());
                        }
                    });
        }
        return median(waits);
    }

    private static long median(List<Long> values) {
        return values.isEmpty()
                ? 0
                : Math.round(Curve.median(
                        values.stream().mapToDouble(Long::doubleValue).toArray()));
    }
}
