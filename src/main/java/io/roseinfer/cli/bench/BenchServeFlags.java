package io.roseinfer.cli.bench;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.bench.http.ClientBaseline;
import io.roseinfer.bench.http.Endpoint;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.bench.load.Words;
import io.roseinfer.cli.flags.ArrivalFlags;
import io.roseinfer.cli.flags.DatasetFlags;
import io.roseinfer.cli.flags.DeliveryFlags;
import io.roseinfer.cli.flags.EndpointFlags;
import io.roseinfer.cli.flags.ExplicitFlags;
import io.roseinfer.cli.flags.FleetFlags;
import io.roseinfer.cli.flags.Heading;
import io.roseinfer.cli.flags.ModelFlags;
import io.roseinfer.cli.flags.ObjectiveFlags;
import io.roseinfer.cli.flags.SchedulerFlags;
import io.roseinfer.cli.flags.SimulationFlags;
import io.roseinfer.cli.flags.Within;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.engine.EngineOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** The flags of {@code bench serve} for the system under test and the load. */
@Heading("Load")
final class BenchServeFlags {
    private static final double NANOS_PER_SECOND = 1e9;

    /** Cores per reader thread. */
    private static final int CORES_PER_READER = 4;

    private static final int MAX_READERS = 8;

    /** Seed modifier that makes the prompts of the warm-up differ from those of the run. */
    private static final long WARM_UP = 0x5741524d;

    private static final String TRIM_LESS = "trim less, or send more requests";

    @Mixin
    private EndpointFlags endpoint = new EndpointFlags();

    @Mixin
    private DatasetFlags dataset = new DatasetFlags();

    @Option(
            names = "--num-prompts",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Number of requests; a file may have fewer.")
    @Within(min = 1)
    private int numPrompts = 1000;

    @Option(
            names = "--duration",
            paramLabel = "<S>",
            preprocessor = Within.Check.class,
            description =
                    "Send only the requests due in the first S seconds; without --num-prompts, as many as there are. Requires scheduled times.",
            showDefaultValue = Visibility.NEVER)
    @Within(above = 0)
    private Optional<Double> duration = Optional.empty();

    @Option(
            names = "--trim-warmup-s",
            paramLabel = "<S>",
            preprocessor = Within.Check.class,
            description =
                    "Exclude requests that are due in the first S seconds from the results, which then begin at S.")
    @Within(min = 0)
    private double trimWarmUp;

    @Option(
            names = "--trim-cooldown-s",
            paramLabel = "<S>",
            preprocessor = Within.Check.class,
            description = "Exclude requests that are due in the S seconds before the last one from the results.")
    @Within(min = 0)
    private double trimCoolDown;

    @Mixin
    private ArrivalFlags arrivals = new ArrivalFlags();

    @Option(
            names = "--max-concurrency",
            paramLabel = "<C>",
            preprocessor = Within.Check.class,
            description = "Maximum requests in flight; further ones wait (default: no limit).",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 1)
    private Optional<Integer> maxConcurrency = Optional.empty();

    @Option(names = "--seed", paramLabel = "<S>", description = "Seed of prompts and arrival times.")
    private long seed;

    @Option(
            names = {"--warmup-requests", "--num-warmups"},
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Requests before the run, with the same lengths and another seed.")
    @Within(min = 0)
    private int warmupRequests;

    @Option(
            names = "--stall-timeout-s",
            paramLabel = "<S>",
            preprocessor = Within.Check.class,
            description = "Fail the requests in flight if nothing arrives for this many seconds.")
    @Within(min = 1)
    private int stallSeconds = 600;

    @Option(
            names = "--reader-threads",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Threads that read responses (default: one per four cores, up to 8).",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 1)
    private Optional<Integer> readerThreads = Optional.empty();

    @Mixin
    private ObjectiveFlags objective = new ObjectiveFlags();

    @Mixin
    private SimulationFlags simulation = new SimulationFlags();

    @Mixin
    private FleetFlags fleet = new FleetFlags();

    @Mixin
    private ModelFlags model = new ModelFlags();

    @Mixin
    private DeliveryFlags delivery = new DeliveryFlags();

    @Mixin
    private SchedulerFlags scheduler = new SchedulerFlags();

    /** A load, counts of what was clipped from its dataset, and notes on what it leaves out. */
    record Load(OfferedLoad offered, Map<String, Long> counts, List<String> notes) {}

    EndpointFlags endpoint() {
        return endpoint;
    }

    ArrivalFlags arrivals() {
        return arrivals;
    }

    /** Returns the names of the tenants that flags define. */
    List<String> tenantNames() {
        return dataset.tenantNames();
    }

    ObjectiveFlags objective() {
        return objective;
    }

    SimulationFlags simulation() {
        return simulation;
    }

    FleetFlags fleet() {
        return fleet;
    }

    ModelFlags model() {
        return model;
    }

    long seed() {
        return seed;
    }

    Optional<Integer> maxConcurrency() {
        return maxConcurrency;
    }

    int readers() {
        int cores = Runtime.getRuntime().availableProcessors();
        return readerThreads.orElse(Math.clamp(cores / CORES_PER_READER, 1, MAX_READERS));
    }

    /** Returns the maximum time without any data. */
    Duration patience() {
        return Duration.ofSeconds(stallSeconds);
    }

    /** Returns the engine's options; without {@code --max-inflight-requests} it accepts all requests of the run. */
    EngineOptions engineOptions(Terminal terminal) {
        return delivery.addTo(scheduler
                .engineOptions(seed, terminal)
                .withMaxInflightRequests(Math.max(
                        EngineOptions.defaults().maxInflightRequests(),
                        duration.isPresent() ? Integer.MAX_VALUE : numPrompts + warmupRequests)));
    }

    /** Returns the drafter as a user named it. */
    String drafterName() {
        return scheduler.drafterName();
    }

    /** Returns the options with new policies, so that runs share no state. */
    EngineOptions withNewPolicies(EngineOptions options) {
        return options.withScheduler(scheduler.scheduler());
    }

    /**
     * Shortens the default lengths of random requests to fit a context.
     *
     * @return a note about the new lengths; empty if the lengths were given or fit
     */
    Optional<String> fitLengths(CommandSpec command, int contextLength) {
        return dataset.fitLengths(command, contextLength);
    }

    /** Returns the lengths chosen by {@link #fitLengths} as arguments; empty if it changed none. */
    List<String> fittedLengths() {
        return dataset.fittedLengths();
    }

    /** Returns the load for a seed. */
    Load load(CommandSpec command, long ofSeed) {
        boolean isSimulated = endpoint.backend() == EndpointFlags.Kind.SIM;
        DatasetFlags.Requests data = dataset.read(count(command), ofSeed, arrivals.burstiness(), isSimulated)
                .requests(Integer.MAX_VALUE);
        arrivals.requireConsistent(data.hasTimes(), command);
        requireEnds(data.requests());
        OfferedLoad offered = withWords(withinDuration(arrivals.load(data, ofSeed)));
        objective.requireBounds(offered);
        boolean endsAtLength = isSimulated || endpoint.ask().ignoreEos();
        return new Load(endsAtLength ? offered : offered.upToMaxTokens(), data.counts(), notes(command, data, offered));
    }

    /**
     * Returns notes on requests of the dataset that were clipped or omitted, or may be beyond the default number, and on classes without
     * requests.
     */
    private List<String> notes(CommandSpec command, DatasetFlags.Requests data, OfferedLoad offered) {
        List<String> notes = new ArrayList<>(objective.notes(offered));
        if (!data.changes().isEmpty()) {
            notes.add(data.changes());
        }
        boolean isDefault = duration.isEmpty() && !ExplicitFlags.has(command, "--num-prompts");
        if (isDefault && dataset.isFile() && offered.size() == numPrompts) {
            notes.add("the run has the first " + numPrompts
                    + " requests of the file, the default --num-prompts; a longer file needs a higher one");
        }
        return notes;
    }

    /** Replaces generated token ids by words for the chat endpoint, which takes text. */
    private OfferedLoad withWords(OfferedLoad load) {
        if (endpoint.endpointType() != Endpoint.Kind.CHAT
                || endpoint.backend() != EndpointFlags.Kind.HTTP
                || !dataset.isGenerated()) {
            return load;
        }
        if (load.hasConversations()) {
            throw new BadInput("--conversation-turns needs token ids, and --endpoint-type chat takes text; use"
                    + " --endpoint-type completions");
        }
        return load.withPrompts(Words::of);
    }

    /** Returns the number of requests to read or generate, which with a duration and no number is enough for it. */
    private int count(CommandSpec command) {
        return duration.isEmpty() || ExplicitFlags.has(command, "--num-prompts")
                ? numPrompts
                : arrivals.enough(duration.get(), dataset).orElse(numPrompts);
    }

    private OfferedLoad withinDuration(OfferedLoad load) {
        if (duration.isEmpty()) {
            return load;
        }
        if (!load.isScheduled()) {
            throw new BadInput("--duration needs times of requests; add --request-rate, or a dataset with times");
        }
        return load.dueBefore(Math.round(duration.get() * NANOS_PER_SECOND));
    }

    /** Throws if a grammar would end a completion that must have the requested length. */
    private void requireEnds(List<OfferedRequest> requests) {
        Optional<JsonNode> constraints = requests.stream()
                .flatMap(request -> request.constraints().stream())
                .findFirst();
        if (constraints.isPresent() && endpoint.ask().ignoreEos()) {
            throw new BadInput("--ignore-eos cannot be combined with "
                    + String.join(", ", constraints.get().propertyNames())
                    + " of the dataset, because a grammar ends the completion; leave it out");
        }
    }

    /**
     * Rejects a load of which no request is left in the results, if the due times of its requests are known.
     *
     * @throws BadInput if it is one
     */
    void requireCounted(OfferedLoad load) {
        if (!load.isScheduled() || load.hasConversations() || load.requests().isEmpty()) {
            return;
        }
        long span = load.spanNanos();
        if (load.requests().stream().noneMatch(request -> isCounted(request.dueNanos(), span))) {
            throw new BadInput(String.format(
                    Locale.ROOT,
                    "%s leave no request, because the last one is due at %.3f s; %s",
                    trimming(),
                    span / NANOS_PER_SECOND,
                    TRIM_LESS));
        }
    }

    private boolean isCounted(long dueNanos, long lastNanos) {
        return dueNanos >= nanos(trimWarmUp) && dueNanos <= lastNanos - nanos(trimCoolDown);
    }

    private static long nanos(double seconds) {
        return Math.round(seconds * NANOS_PER_SECOND);
    }

    private String trimming() {
        return "--trim-warmup-s " + trimWarmUp + " and --trim-cooldown-s " + trimCoolDown;
    }

    /** Returns the part of a run that its results are of; the whole run if no request is left, which is invalid. */
    LoadResult counted(LoadResult run) {
        return part(run).orElse(run);
    }

    /** Returns the part of a run without its beginning and end; empty if that has no request. */
    private Optional<LoadResult> part(LoadResult run) {
        return trimWarmUp == 0 && trimCoolDown == 0
                ? Optional.of(run)
                : Optional.of(run.trimmed(nanos(trimWarmUp), nanos(trimCoolDown)))
                        .filter(rest -> !rest.calls().isEmpty());
    }

    private RunValidity judgeTrimming(RunValidity judged, LoadResult run) {
        return run.calls().isEmpty() || part(run).isPresent()
                ? judged
                : judged.withReason(
                        String.format(
                                Locale.ROOT,
                                "%s leave no request of a run of %.3f s; these results are of all requests",
                                trimming(),
                                run.seconds()),
                        TRIM_LESS);
    }

    /** Returns a note on trimmed requests; empty if there are none. */
    private Optional<String> trimmed(LoadResult run) {
        int left = counted(run).calls().size();
        return left == run.calls().size()
                ? Optional.empty()
                : Optional.of(run.calls().size() - left + " of " + run.calls().size()
                        + " requests are trimmed: due in the first " + trimWarmUp + " s or the last " + trimCoolDown
                        + " s");
    }

    /** Returns warm-up requests with the lengths of a load's first requests and other token ids. */
    OfferedLoad warmUp(OfferedLoad load) {
        List<OfferedRequest> like = load.requests();
        List<OfferedRequest> requests = IntStream.range(0, warmupRequests)
                .mapToObj(i -> like.get(i % like.size()).withOtherIds(SplitMix64.at(seed ^ WARM_UP, i)))
                .toList();
        return new OfferedLoad(requests, OfferedLoad.Pacing.BURST);
    }

    /**
     * Returns the validity of a run.
     *
     * @param floor the client baseline, if it was measured
     */
    RunValidity verdict(LoadResult result, SystemUnderTest system, Optional<ClientBaseline> floor) {
        return verdict(result, system, floor, objective.maxFailed());
    }

    /** Returns the validity of a sweep point. Any number of requests may fail: a server that rejects excess load shows its limit. */
    RunValidity verdictOfPoint(LoadResult result, SystemUnderTest system) {
        return verdict(result, system, Optional.empty(), 1);
    }

    private RunValidity verdict(
            LoadResult result, SystemUnderTest system, Optional<ClientBaseline> floor, double maxFailed) {
        EndpointFlags.Kind backend = endpoint.backend();
        RunValidity judged = RunValidity.of(
                result,
                new RunValidity.Rules(
                        objective.maxLagMillis(),
                        maxFailed,
                        endpoint.ask().ignoreEos() || backend == EndpointFlags.Kind.SIM,
                        backend == EndpointFlags.Kind.ENGINE || backend == EndpointFlags.Kind.SIM,
                        floor,
                        system.contextLength()));
        return judgeTrimming(judged, result)
                .with(Stream.concat(trimmed(result).stream(), system.notes(result).stream())
                        .toList())
                .withExtrapolated(system.extrapolatedShare(result));
    }
}
