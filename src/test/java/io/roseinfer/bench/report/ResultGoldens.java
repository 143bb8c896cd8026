package io.roseinfer.bench.report;

import io.roseinfer.backend.Operator;
import io.roseinfer.backend.StepProfile;
import io.roseinfer.backend.StepProfile.Kind;
import io.roseinfer.backend.StepProfile.Part;
import io.roseinfer.bench.ModelBenchmark;
import io.roseinfer.bench.ModelPoint;
import io.roseinfer.bench.ModelTiming;
import io.roseinfer.bench.RunResult;
import io.roseinfer.bench.SchedulerBenchmark.Mode;
import io.roseinfer.bench.SchedulerRun;
import io.roseinfer.bench.StepCost;
import io.roseinfer.bench.WarmUp;
import io.roseinfer.bench.compare.Comparison;
import io.roseinfer.bench.compare.ComparisonReport;
import io.roseinfer.bench.compare.ComparisonResult;
import io.roseinfer.bench.compare.OfRuns;
import io.roseinfer.bench.compare.Study;
import io.roseinfer.bench.compare.Sweep;
import io.roseinfer.bench.compare.SweepPoint;
import io.roseinfer.bench.compare.SweepReport;
import io.roseinfer.bench.compare.SweepResult;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.ClientBaseline;
import io.roseinfer.bench.http.ClientCost;
import io.roseinfer.bench.http.GrammarTimes;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.Oddities;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.http.ServerStamps;
import io.roseinfer.bench.replay.HostTimes;
import io.roseinfer.bench.replay.Pace;
import io.roseinfer.bench.replay.Prediction;
import io.roseinfer.bench.replay.RecordedModel;
import io.roseinfer.bench.replay.RecordedRun;
import io.roseinfer.bench.replay.SimulatedRuns;
import io.roseinfer.bench.replay.StepTimes;
import io.roseinfer.bench.report.html.HtmlReport;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.StepRecords;
import io.roseinfer.metrics.Summary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * All output of benchmarks for fixed results: JSON, text, CSV and HTML report of each kind, by file name. {@code main} writes
 * the files that {@link ResultGoldensTest} compares with. A report is stored without its style sheet and without coordinates.
 */
final class ResultGoldens {
    static final Path FOLDER = Path.of("src/test/resources/results");

    private static final Environment MACHINE = new Environment(
            "25.0.3+9, a VM",
            Optional.of("a <cpu> & more"),
            OptionalInt.of(512),
            Optional.empty(),
            Optional.of("580.1"),
            Optional.of("abcdef"),
            1_250_000_000L);

    private static final List<Environment.Validation> UNVALIDATED = List.of(Environment.Validation.NONE);

    private static final Map<String, Object> SETTINGS = settings();

    private final Map<String, String> files = new LinkedHashMap<>();

    private static final WarmUp WARM_UP = new WarmUp(9, 1.25, Optional.of(true), OptionalDouble.of(0.03125));

    private ResultGoldens() {}

    public static void main(String[] args) throws IOException {
        for (Map.Entry<String, String> file : all().entrySet()) {
            Files.createDirectories(FOLDER);
            Files.writeString(FOLDER.resolve(file.getKey()), file.getValue());
        }
    }

    /** Returns the content of all files by name. */
    static Map<String, String> all() {
        ResultGoldens goldens = new ResultGoldens();
        goldens.streaming();
        goldens.scheduler();
        goldens.cost();
        goldens.model();
        goldens.serve();
        goldens.studies();
        goldens.replay();
        return goldens.files;
    }

    private static Map<String, Object> settings() {
        Map<String, Object> settings = new LinkedHashMap<>();
        settings.put("model", "a 'model' <b>");
        settings.put("num_requests", 2);
        settings.put("prompt_repeats", List.of(1, 2));
        settings.put("threads", null);
        settings.put("kv_blocks", 128);
        settings.put("request_rate", 12.5);
        return settings;
    }

    private void add(String name, BenchResult document) {
        addJson(name, document);
        files.put(name + ".csv", CsvReport.of(document).replaceAll("(\\.\\d{12})\\d+", "$1"));
        addPage(name, document);
    }

    private void addPage(String name, BenchResult document) {
        files.put(
                name + ".html",
                HtmlReport.of(name, document)
                        .replaceFirst("(?s)<style>.*</style>", "<style></style>")
                        .replaceAll(
                                " (x|y|x1|x2|y1|y2|cx|cy|dx|dy|r|d|points|width|height|viewBox|transform)=\"[^\"]*\"",
                                "")
                        .replaceAll("><", ">\n<"));
    }

    /** Adds a JSON document with at most twelve decimals, because further ones depend on the processor. */
    private void addJson(String name, Object document) {
        files.put(
                name + ".json",
                ResultJson.mapper()
                                .writerWithDefaultPrettyPrinter()
                                .writeValueAsString(document)
                                .replaceAll("(\\.\\d{12})\\d+", "$1")
                        + "\n");
    }

    private static StepRecord step(long number, long startMicros, long prefillTokens, long decodeRows, long engine) {
        Map<Fact, Long> facts = new LinkedHashMap<>();
        facts.put(Fact.STEP, number);
        facts.put(Fact.START_NANOS, Results.nanos(startMicros));
        facts.put(Fact.PLAN_NANOS, 11_000 + number);
        facts.put(Fact.PACK_NANOS, 7_000L);
        facts.put(Fact.DEVICE_NANOS, 900_000L);
        facts.put(Fact.APPLY_NANOS, 12_500L);
        facts.put(Fact.SUBMIT_NANOS, 21_000L);
        facts.put(Fact.WAIT_NANOS, 640_000L + 1_000 * number);
        facts.put(Fact.ROWS, decodeRows + (prefillTokens > 0 ? 1 : 0));
        facts.put(Fact.TOKENS, prefillTokens + decodeRows);
        facts.put(Fact.PREFILL_TOKENS, prefillTokens);
        facts.put(Fact.DECODE_ROWS, decodeRows);
        facts.put(Fact.WAITING, 1L);
        facts.put(Fact.ACTIVE, 2L);
        facts.put(Fact.FREE_BLOCKS, 100 - number);
        facts.put(Fact.CACHED_TOKENS, number == 1 ? 3L : 0);
        facts.put(Fact.PREEMPTIONS, number == 3 ? 1L : 0);
        facts.put(Fact.RECOMPUTED_TOKENS, number == 4 ? 17L : 0);
        facts.put(Fact.FORCED_ADMISSIONS, number == 4 ? 1L : 0);
        facts.put(Fact.ENGINE, engine);
        return StepRecords.step(facts);
    }

    private void streaming() {
        List<CallResult> requests = List.of(
                Results.request(0, 4, 0, 40, 20, 1_000, 31_000, 36_000, 41_000),
                Results.request(1, 4, 50, 70, 100, 1_000, 31_000, 36_000, 42_000),
                Results.request(3, 9, 90, 95, 100, 2_000, 47_000));
        StepProfile prefill = new StepProfile(
                Kind.PREFILL, 1, 256, 1_000_000, List.of(new Part(Operator.LOGITS, 1, 1_000_000, 0, 0)));
        StepProfile decode = new StepProfile(
                Kind.DECODE,
                2,
                2,
                1_010_000,
                List.of(
                        new Part(Operator.QKV, 12, 800_000, 20_000_000, 80_000_000),
                        new Part(Operator.SAMPLING, 1, 200_000, 0, 0)));
        RunResult first = Results.run(
                requests,
                2,
                6_119,
                List.of(50_000L, 70_000L, 10_500L, 0L, 1L),
                List.of(
                        step(1, 10, 13, 0, 0),
                        step(2, 1_000, 0, 2, 0),
                        step(3, 2_000, 0, 2, 0),
                        step(4, 3_000, 0, 2, 0)),
                List.of(prefill, decode));
        RunResult second = Results.run(List.of(requests.get(2)), 0, 5_000);
        List<RunResult> runs = List.of(first, second);
        add("streaming", StreamingResult.of(SETTINGS, MACHINE, Optional.of(WARM_UP), runs, true));
        add("streaming-one", StreamingResult.of(SETTINGS, MACHINE, Optional.empty(), List.of(second), false));
        StreamingReport report = new StreamingReport(
                new StreamingReport.Setup("a model", "cpu", true, 2, 1, true, false, false), "1.000 ms / absolute");
        files.put(
                "streaming.txt",
                report.text(first)
                        + OperatorReport.text(first)
                        + report.text(Results.run(second.requests(), 0, 5_000, 0L))
                        + RunsReport.text(runs));
    }

    private void scheduler() {
        long ms = 1_000_000;
        List<SchedulerRun> runs = new ArrayList<>();
        for (long decode : new long[] {30, 61}) {
            runs.add(new SchedulerRun(
                    20 * ms,
                    decode * ms,
                    6,
                    List.of(
                            new SchedulerRun.RequestTimes(6, 4, 10 * ms, (20 + decode) * ms),
                            new SchedulerRun.RequestTimes(2, 1, 10 * ms, 10 * ms),
                            new SchedulerRun.RequestTimes(2, 4, 10 * ms, (9 + decode) * ms))));
        }
        StringBuilder text = new StringBuilder();
        for (Mode mode : Mode.values()) {
            text.append(SchedulerReport.text(mode, 1, runs));
        }
        files.put("scheduler.txt", text.toString());
        add("scheduler", SchedulerResult.of(SETTINGS, MACHINE, Mode.ONLINE, runs));
    }

    private void cost() {
        List<StepCost> costs = new ArrayList<>();
        for (int running : List.of(1, 64)) {
            for (int waiting : List.of(0, 100)) {
                costs.add(new StepCost(
                        running,
                        waiting,
                        Summary.of(1.5, 2.25, 3 + running),
                        Summary.of(0.5, 0.75),
                        Summary.of(4, 5, 6),
                        Summary.of(7, 8.125, 9),
                        waiting == 0 ? Summary.of() : Summary.of(20, 21.5)));
            }
        }
        StringBuilder text = new StringBuilder(StepCostReport.header(EngineOptions.defaults(), 100));
        costs.forEach(cost -> text.append(StepCostReport.row(cost)));
        files.put("cost.txt", text.toString());
        add("cost", StepCostResult.of(SETTINGS, MACHINE, costs));
    }

    private void model() {
        List<ModelTiming> timings = List.of(
                new ModelTiming(new ModelPoint.Prefill(1, 64), List.of(10.5, 10.25, 11.0)),
                new ModelTiming(new ModelPoint.Prefill(2, 512), List.of(100.125)),
                new ModelTiming(new ModelPoint.Decode(1), List.of(2.5, 2.75)),
                new ModelTiming(new ModelPoint.Decode(8), List.of(4.0, 3.875, 4.125)));
        ModelBenchmark.Settings settings = new ModelBenchmark.Settings(
                timings.stream().map(ModelTiming::point).toList(), 8, 64, ModelBenchmark.WarmUp.defaults(), 5);
        StringBuilder text = new StringBuilder(ModelReport.header("a model", "bf16", "cpu, 2 threads", settings));
        timings.forEach(timing -> text.append(ModelReport.row(timing)));
        files.put("model.txt", text.toString());
        add("model", ModelResult.of(SETTINGS, MACHINE, timings));
    }

    private static CallResult call(
            int id, int prompt, CallResult.Arrived arrivals, CallResult.Usage usage, Optional<ServerStamps> server) {
        long due = Results.nanos(1_000L * id);
        long end = Arrays.stream(arrivals.nanos()).max().orElse(due + 1_999_000) + 1_000;
        return new CallResult(
                id,
                prompt,
                8,
                new CallResult.Times(due, due + 10_000L * id, due + 20_000L * id + 5_000, end, end + 3_000),
                arrivals,
                usage,
                server,
                Optional.empty());
    }

    private static long[] nanos(long... micros) {
        return Arrays.stream(micros).map(Results::nanos).toArray();
    }

    /** A run with counted, uncounted and grouped tokens, complete and partial timestamps, two engines and a failed request. */
    private static LoadResult run() {
        List<CallResult> calls = new ArrayList<>();
        calls.add(call(
                0,
                5,
                new CallResult.Arrived(CallResult.Counted.IDS, nanos(1_200, 2_150, 3_170), new int[] {1, 1, 1}),
                new CallResult.Usage(5, 3, 8, 2),
                Optional.of(new ServerStamps(
                        Results.nanos(30),
                        Results.nanos(40),
                        Results.nanos(55),
                        Results.nanos(60),
                        nanos(1_000, 2_000, 3_000),
                        nanos(1_010, 2_010, 3_010),
                        nanos(1_020, 2_020, 3_020),
                        new ServerStamps.Served(0, 3)))));
        calls.add(call(
                1,
                -1,
                new CallResult.Arrived(CallResult.Counted.RUNNING_USAGE, nanos(4_000, 9_000), new int[] {2, 4}),
                new CallResult.Usage(11, 6, 17),
                Optional.of(new ServerStamps(
                        Results.nanos(1_030),
                        ServerStamps.UNKNOWN,
                        Results.nanos(1_050),
                        ServerStamps.UNKNOWN,
                        nanos(3_950, 3_950, 8_900, 8_900, 8_900, 8_900),
                        new long[0],
                        new long[0],
                        new ServerStamps.Served(1, -1)))));
        calls.add(call(
                2,
                7,
                new CallResult.Arrived(CallResult.Counted.NOT, nanos(5_000, 5_500, 7_000), new int[0]),
                new CallResult.Usage(7, 8, 15),
                Optional.empty()));
        calls.add(call(
                3,
                7,
                new CallResult.Arrived(CallResult.Counted.TOTAL, nanos(6_000), new int[] {1}),
                new CallResult.Usage(-1, 1, -1),
                Optional.empty()));
        CallResult failed = call(
                4,
                7,
                new CallResult.Arrived(CallResult.Counted.NOT, new long[0], new int[0]),
                new CallResult.Usage(-1, -1, -1),
                Optional.empty());
        calls.add(new CallResult(
                failed.id(),
                failed.promptTokens(),
                failed.askedTokens(),
                failed.times(),
                failed.arrivals(),
                failed.usage(),
                failed.server(),
                Optional.of("the server closed <the> \"connection\", early")));
        return new LoadResult(
                Results.START_NANOS,
                Results.nanos(12_000),
                true,
                calls,
                new ClientCost(3_000_000, 2, 4, 55, 1_500_000),
                new Oddities(1, 2, 0, 1),
                List.of(
                        step(1, 65, 5, 0, 0),
                        step(2, 1_030, 0, 1, 0),
                        step(3, 2_040, 0, 1, 0),
                        step(4, 3_000, 11, 0, 1),
                        step(5, 7_950, 0, 1, 1)));
    }

    private static LoadResult simulated(double rate, int seed) {
        return SimulatedRuns.server(new StepTimes(SimulatedRuns.costs(), Pace.EVEN, HostTimes.NONE), seed)
                .run(SimulatedRuns.load(8, rate, seed));
    }

    private static final RunValidity VALID =
            new RunValidity(List.of(), List.of(), List.of("a note"), OptionalDouble.empty());

    private static ServeResult serve(
            LoadResult run, RunValidity verdict, boolean simulated, Optional<ReplayOf> replayOf) {
        Optional<ClientBaseline> floor = simulated
                ? Optional.empty()
                : Optional.of(new ClientBaseline(123_456.75, Summary.of(0.1, 0.3), Summary.of(0.2)));
        return serve(run, verdict, floor, simulated, replayOf);
    }

    private static ServeResult serve(
            LoadResult run,
            RunValidity verdict,
            Optional<ClientBaseline> floor,
            boolean simulated,
            Optional<ReplayOf> replayOf) {
        Map<String, Object> head = new LinkedHashMap<>();
        head.put("endpoint_type", "openai");
        head.put("backend", simulated ? "sim" : "http");
        head.put("model_id", "a model");
        head.put("num_prompts", run.calls().size());
        head.put("request_rate", simulated ? (Object) 60.0 : "inf");
        head.put("burstiness", 1.0);
        if (simulated) {
            head.put("max_concurrency", 4);
        }
        ServeResult.About about = new ServeResult.About(
                head,
                List.of("bench", "serve", "--model", "<script>alert(1)</script>", "--dataset-path=it's"),
                SETTINGS,
                simulated ? Environment.simulated("25", Optional.of("abc"), "step:2,token:0.1", UNVALIDATED) : MACHINE,
                List.of(50.0, 99.0, 99.9),
                simulated ? Objectives.NONE : goodput(),
                List.of(),
                Map.of("clipped", 3L),
                replayOf);
        return ServeResult.of(run, verdict, floor, Instant.EPOCH, about);
    }

    private static Objectives goodput() {
        Map<String, Double> bounds = new LinkedHashMap<>();
        bounds.put("ttft", 3.9);
        bounds.put("e2el", 100.0);
        return Objectives.ofAll(bounds);
    }

    private static Optional<GrammarTimes> grammars() {
        return Optional.of(new GrammarTimes(Summary.of(12.5, 0.125), Summary.of(3, 4, 50.5)));
    }

    private void serve() {
        RunValidity invalid = new RunValidity(
                List.of("late by <1> & \"more\""),
                List.of("do <this>"),
                List.of("a note", "another"),
                OptionalDouble.empty());
        LoadResult simulated = simulated(60, 5);
        LoadResult measured = run().withGrammars(grammars());
        add("serve", serve(measured, invalid, false, Optional.empty()));
        add("serve-simulated", serve(simulated, VALID, true, Optional.empty()));
        ServeResult floored = serve(
                measured,
                invalid,
                Optional.of(new ClientBaseline(1e5, Summary.of(0.1), Summary.of(0.2))),
                false,
                Optional.empty());
        files.put(
                "serve.txt",
                new ServeReport(List.of("ttft", "tpot", "itl", "e2el"), List.of(50.0, 99.9)).text(floored)
                        + new ServeReport(List.of("ttft", "itl"), List.of(99.0))
                                .text(serve(simulated, VALID, true, Optional.empty())));
    }

    private static List<Environment> machines() {
        return List.of(
                MACHINE.ofMany(),
                Environment.simulated("25", Optional.empty(), "step:2", UNVALIDATED)
                        .ofMany());
    }

    private void studies() {
        Study study = new Study(
                List.of("bench", "sweep", "--seed=1", "--vary=request-rate=10,20,40"),
                List.of("--seed=1"),
                goodput(),
                List.of(),
                machines());
        List<SweepPoint> points = new ArrayList<>();
        for (String batch : List.of("8", "<32>")) {
            for (double rate : new double[] {30, 60, 200}) {
                Map<String, String> flags = new LinkedHashMap<>();
                flags.put("max-batch-size", batch);
                flags.put(Sweep.RATE, "" + rate);
                boolean late = rate == 200 && batch.equals("8");
                points.add(SweepPoint.of(
                                flags,
                                simulated(rate, batch.equals("8") ? 3 : 4),
                                late
                                        ? new RunValidity(
                                                List.of("late <by> 1"), List.of(), List.of(), OptionalDouble.empty())
                                        : VALID,
                                goodput(),
                                List.of())
                        .in(batch.equals("8") ? 0 : 1));
            }
        }
        Sweep sweep = new Sweep(points, 0.9);
        add("sweep", SweepResult.of(sweep, study));
        StringBuilder text = new StringBuilder(
                OfRuns.simulatedLines(OfRuns.points(study, points, SweepReport::flags, Environment::simulated)));
        points.forEach(point -> text.append(SweepReport.line(point, 0.99)).append('\n'));
        files.put("sweep.txt", text + SweepReport.text(sweep, study));
        List<Comparison.Pair> pairs = IntStream.range(0, 10)
                .mapToObj(i -> new Comparison.Pair(
                        i, RunMetrics.of(simulated(60, i), goodput()), RunMetrics.of(simulated(80, i), goodput())))
                .toList();
        Comparison comparison = Comparison.of(pairs);
        ComparisonResult.Arms arms =
                new ComparisonResult.Arms(List.of(), List.of("--request-rate", "80 <"), "median_e2el_ms", 0.02, 1);
        add("ab", ComparisonResult.of(comparison, arms, study));
        StringBuilder lines = new StringBuilder(OfRuns.simulatedLines(OfRuns.arms(study, Environment::simulated)));
        pairs.forEach(pair ->
                lines.append(ComparisonReport.line(1, pair, "p99_ttft_ms")).append('\n'));
        files.put("ab.txt", lines + ComparisonReport.text(comparison, arms, study.shownPercentiles()));
        ComparisonResult.Arms undecided = new ComparisonResult.Arms(List.of("x"), List.of(), "request_goodput", 0, 0);
        add(
                "ab-undecided",
                ComparisonResult.of(
                        Comparison.of(pairs.subList(0, 4)),
                        undecided,
                        new Study(study.command(), study.shared(), Objectives.NONE, List.of(), List.of())));
    }

    private void replay() {
        RecordedRun recorded = new RecordedRun(
                "run <1>.json",
                List.of("bench", "serve", "--num-prompts=12"),
                simulated(60, 5),
                0,
                new RunValidity(List.of("late"), List.of(), List.of(), OptionalDouble.empty()),
                RecordedModel.NONE,
                "");
        LoadResult again = simulated(60, 6);
        LoadResult changed = simulated(80, 6);
        Prediction both = Prediction.of(recorded.result(), again, Optional.of(changed));
        Prediction one = Prediction.of(recorded.result(), again, Optional.empty());
        ReplayOf ofBoth = both.replayOf(recorded, List.of("--max-batch-size=4"), true, true, List.of("changed"));
        ReplayOf ofOne = one.replayOf(SimulatedRuns.recorded(again), List.of(), false, false, List.of());
        addReplay("replay", changed, ofBoth);
        addReplay("replay-unchanged", again, ofOne);
        files.put("replay.txt", Prediction.text(ofBoth) + Prediction.text(ofOne));
    }

    private void addReplay(String name, LoadResult run, ReplayOf recorded) {
        addPage(name, serve(run, VALID, true, Optional.of(recorded)));
        addJson(name, recorded);
    }
}
