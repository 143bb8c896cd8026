package io.roseinfer.cli.flags;

import io.roseinfer.Settings;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.replay.FleetPlan;
import io.roseinfer.bench.replay.KvTransfer;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.engine.routing.ScalePolicy;
import io.roseinfer.engine.routing.ViewAge;
import io.roseinfer.model.ModelSpec;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** Flags for engines that differ, fail, start and stop, or share the work on a request, in simulated time. */
@Heading("Fleet")
public final class FleetFlags {
    private static final String ALL = "all";
    private static final String BLIND = "blind";
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double BYTES_PER_GB = 1e9;

    /** Ten days, as in the longest traces. */
    private static final double MAX_SECONDS = 864_000;

    private static final double DEFAULT_INTERVAL_S = 5;

    @Option(
            names = "--engine-costs",
            paramLabel = "<ENGINE:COSTS>",
            description = "On --backend sim: step times of one engine, in the form of --step-costs; can be repeated.",
            showDefaultValue = Visibility.NEVER)
    private List<String> engineCosts = List.of();

    @Option(
            names = "--death",
            paramLabel = "<S:ENGINE>",
            description =
                    "On --backend sim: an engine fails after S seconds, as in 10:0; others take over its requests that have no token; can be repeated.",
            showDefaultValue = Visibility.NEVER)
    private List<String> deaths = List.of();

    @Option(
            names = "--view-age",
            paramLabel = "<MS[:blind]>",
            description =
                    "On --backend sim: routing and scaling policies see the state of MS ago, plus the requests sent since; blind hides those.")
    private String viewAge = "0";

    @Option(
            names = "--scale-policy",
            paramLabel = "<all|CLASS|FILE.java[:ARG]>",
            description =
                    "On --backend sim: how many of the engines serve: all, or the choice of a ScalePolicy by class name or source file.")
    private String scalePolicy = ALL;

    @Option(
            names = "--scale-interval",
            paramLabel = "<S>",
            preprocessor = Within.Check.class,
            description = "On --backend sim: seconds between decisions of the scaling policy (default: 5).",
            showDefaultValue = Visibility.NEVER)
    @Within(above = 0, max = MAX_SECONDS)
    private Optional<Double> scaleInterval = Optional.empty();

    @Option(
            names = "--start-up",
            paramLabel = "<S>",
            preprocessor = Within.Check.class,
            description =
                    "On --backend sim: seconds until an engine requested by the scaling policy serves (default: 0).",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 0, max = MAX_SECONDS)
    private Optional<Double> startUp = Optional.empty();

    @Option(
            names = "--prefill-engines",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description =
                    "On --backend sim: the first N engines compute prompts and first tokens, the others all later tokens; --routing chooses one"
                            + " of each kind (default: 0, each serves whole requests).",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 0, max = Settings.MAX_REPLICAS - 1)
    private Optional<Integer> prefillEngines = Optional.empty();

    @Option(
            names = "--kv-transfer",
            paramLabel = "<GB/S[:MS]>",
            description =
                    "On --backend sim: rate (or inf) at which each prefill engine sends keys and values, one request at a time, and latency,"
                            + " as in 50:0.1.",
            showDefaultValue = Visibility.NEVER)
    private Optional<String> kvTransfer = Optional.empty();

    /**
     * Returns the number of prefill engines; empty if each engine serves whole requests.
     *
     * @throws BadInput if a flag is invalid
     */
    public OptionalInt prefillEngines(int engines) {
        if (prefillEngines.isEmpty()) {
            if (kvTransfer.isPresent()) {
                throw new BadInput("--kv-transfer has no effect without --prefill-engines: no engine sends; give both");
            }
        }
        int count = prefillEngines.orElse(0);
        if (count == 0) {
            return OptionalInt.empty();
        }
        if (count >= engines) {
            throw new BadInput("--prefill-engines is " + count + " of " + engines
                    + " engines; leave at least one that decodes, or use more engines");
        }
        if (isScaled()) {
            throw new BadInput("--prefill-engines cannot be combined with --scale-policy; leave one of the two out");
        }
        return OptionalInt.of(count);
    }

    /**
     * Returns the transfer from prefill engines for a model.
     *
     * @throws BadInput if the flag is missing or invalid
     */
    public KvTransfer transfer(ModelSpec model) {
        String text =
                kvTransfer.orElseThrow(() -> new BadInput("--prefill-engines needs --kv-transfer, the rate in GB/s at"
                        + " which keys and values are sent; give it, as in --kv-transfer 50, or inf"));
        String[] parts = text.split(":", -1);
        double rate = parts[0].equals("inf") ? Double.POSITIVE_INFINITY : number(parts[0]);
        double millis = parts.length == 1 ? 0 : number(parts[1]);
        if (parts.length <= 2 && rate > 0 && millis >= 0 && millis <= MAX_SECONDS * 1000) {
            return KvTransfer.of(model, rate * BYTES_PER_GB, Math.round(millis * NANOS_PER_MILLI));
        }
        throw new BadInput("--kv-transfer is " + Quoted.value(text)
                + "; it must be GB/s above 0 or inf, as in 50, or with milliseconds of latency, as in 50:0.1");
    }

    /**
     * Returns the plan of a run, with a new scaling policy.
     *
     * @throws BadInput if a flag is invalid
     */
    public FleetPlan plan(int engines) {
        return new FleetPlan(deaths.stream().map(text -> death(text, engines)).toList(), age(), scaling());
    }

    /** Returns the scaling policy, if a class or file was given. */
    public Optional<ScalePolicy> scalePolicy() {
        return scaling().map(FleetPlan.Scaling::policy);
    }

    /**
     * Prints a note for each flag that has no effect.
     *
     * @param routesByState whether the routing policy may depend on the state of engines
     */
    public void tellWithoutEffect(int engines, boolean routesByState, Terminal terminal) {
        if (isScaled() && engines == 1) {
            terminal.note("--scale-policy has no effect: there is one engine");
        }
        if (age().nanos() > 0 && !agesViews(engines, routesByState)) {
            terminal.note("--view-age has no effect: "
                    + (engines == 1
                            ? "there is one engine"
                            : "no policy uses the state of engines; choose a --routing that does"));
        }
    }

    private boolean isScaled() {
        return !scalePolicy.equals(ALL);
    }

    /**
     * Returns whether a policy sees an earlier state of the engines.
     *
     * @param routesByState whether the routing policy may depend on the state of engines
     */
    public boolean agesViews(int engines, boolean routesByState) {
        return age().nanos() > 0 && engines > 1 && (routesByState || isScaled());
    }

    /** Returns a note for each {@code --death} without effect on a run: after its end, or of an engine that had failed. */
    public List<String> deathsWithoutEffect(LoadResult run) {
        List<String> notes = new ArrayList<>();
        Set<Integer> failed = new HashSet<>();
        deaths.stream()
                .map(text -> death(text, Integer.MAX_VALUE))
                .sorted(Comparator.comparingLong(FleetPlan.Death::nanos))
                .forEach(death -> {
                    String flag = "--death " + death.nanos() / NANOS_PER_SECOND + ":" + death.engine();
                    if (!failed.add(death.engine())) {
                        notes.add(flag + " had no effect: the engine had failed before");
                    } else if (death.nanos() > run.endNanos() - run.startNanos()) {
                        notes.add(String.format(
                                Locale.ROOT, "%s had no effect: the run ended at %.3f s", flag, run.seconds()));
                    }
                });
        return notes;
    }

    private Optional<FleetPlan.Scaling> scaling() {
        if (!isScaled()) {
            if (scaleInterval.isPresent() || startUp.isPresent()) {
                throw new BadInput(
                        "--scale-interval and --start-up have no effect without a --scale-policy: all engines"
                                + " serve from the start; give a policy");
            }
            return Optional.empty();
        }
        ScalePolicy policy = ExtensionChoice.of("--scale-policy", ScalePolicy.class)
                .or(ALL, () -> fleet -> fleet.maxReplicas())
                .make(scalePolicy);
        return Optional.of(new FleetPlan.Scaling(
                policy,
                Math.round(startUp.orElse(0.0) * NANOS_PER_SECOND),
                Math.max(1, Math.round(scaleInterval.orElse(DEFAULT_INTERVAL_S) * NANOS_PER_SECOND))));
    }

    private static FleetPlan.Death death(String text, int engines) {
        String[] parts = text.split(":", -1);
        if (parts.length == 2) {
            int engine = engine(parts[1]);
            double seconds = number(parts[0]);
            if (seconds >= 0 && seconds <= MAX_SECONDS && engine >= 0) {
                requireEngine("--death", text, engine, engines);
                return new FleetPlan.Death(Math.round(seconds * NANOS_PER_SECOND), engine);
            }
        }
        throw new BadInput(
                "--death is " + Quoted.value(text) + "; it must be seconds and the number of an engine, as in 10:0");
    }

    private static void requireEngine(String flag, String text, int engine, int engines) {
        if (engine >= engines) {
            throw new BadInput(flag + " is " + Quoted.value(text) + ", but the engines are 0 to " + (engines - 1)
                    + "; choose one of them, or use more engines");
        }
    }

    private static double number(String text) {
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException notNumber) {
            return Double.NaN;
        }
    }

    private static int engine(String text) {
        return text.matches("[0-9]{1,6}") ? Integer.parseInt(text) : -1;
    }

    private ViewAge age() {
        boolean isBlind = viewAge.endsWith(":" + BLIND);
        double millis = number(isBlind ? viewAge.substring(0, viewAge.length() - BLIND.length() - 1) : viewAge);
        if (millis >= 0 && millis <= MAX_SECONDS * 1000) {
            return new ViewAge(Math.round(millis * NANOS_PER_MILLI), !isBlind);
        }
        throw new BadInput("--view-age is " + Quoted.value(viewAge)
                + "; it must be milliseconds, as in 100, or 100:blind to hide the requests sent since");
    }

    /**
     * Returns the step costs of engines that have their own.
     *
     * @throws BadInput if there is no such engine, or its costs are invalid
     */
    public Map<Integer, StepCostsChoice> costs(int engines) {
        Map<Integer, StepCostsChoice> costs = new TreeMap<>();
        for (String text : engineCosts) {
            String[] parts = text.split(":", 2);
            int engine = engine(parts[0]);
            if (engine < 0 || parts.length < 2 || parts[1].isEmpty()) {
                throw new BadInput("--engine-costs is " + Quoted.value(text)
                        + "; it must be the number of an engine and costs, as in 0:step:2,token:0.1 or 0:run.json");
            }
            requireEngine("--engine-costs", text, engine, engines);
            costs.put(engine, StepCostsChoice.of("--engine-costs", parts[1]));
        }
        return costs;
    }
}
