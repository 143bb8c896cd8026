package io.roseinfer.cli.flags;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.replay.Pace;
import io.roseinfer.bench.replay.RecordedRun;
import io.roseinfer.bench.replay.ShippedCosts;
import io.roseinfer.bench.replay.StepCosts;
import io.roseinfer.bench.replay.StepTimes;
import io.roseinfer.model.ModelSpec;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongFunction;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** Flags for the durations in simulated time. */
@Heading("Simulated time")
public final class SimulationFlags {
    /** Values of {@code --step-noise}; the second of each is an older name. */
    private static final List<String> RECORDED = List.of("recorded", "held");

    private static final List<String> RESAMPLED = List.of("resampled", "drawn");

    /** The names of recorded costs, for the help. */
    static final class Recorded implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return ShippedCosts.names().iterator();
        }
    }

    @Option(
            names = "--step-costs",
            paramLabel = "<COSTS>",
            completionCandidates = Recorded.class,
            description = {
                "On --backend sim, the step times: FILE[,FILE...], result files of --backend engine; step:MS,token:MS,attended:MS per step,"
                        + " token and attended position; roofline:DEVICE[:int8], computed from the model's shape for a100-80gb, h100, h200, l4"
                        + " or l40s at 85 %% of its bandwidth and 50 %% of its peak rate; a CostModel as FILE.java[:ARG] or CLASS[:ARG]; or recorded costs: ${COMPLETION-CANDIDATES}",
                "(default: recorded costs of --model; results name them)."
            },
            showDefaultValue = Visibility.NEVER)
    private Optional<String> stepCosts = Optional.empty();

    @Option(
            names = "--step-cost-scale",
            paramLabel = "<X>",
            preprocessor = Within.Check.class,
            description = "On --backend sim: multiply every step time by X.")
    @Within(above = 0)
    private double scale = 1;

    @Option(
            names = "--step-noise",
            paramLabel = "<recorded|resampled|SIGMA>",
            description = {
                "On --backend sim: recorded repeats the machine's speed over time in the recorded runs, resampled adds recorded"
                        + " deviations at random, SIGMA is the deviation of a random log-normal factor",
                "(default: recorded with a file, else 0)."
            },
            showDefaultValue = Visibility.NEVER)
    private Optional<String> noise = Optional.empty();

    /** Returns the default model: the model of the recorded costs that {@code --step-costs} names, or else of the default ones. */
    public String defaultModel() {
        return ShippedCosts.model(stepCosts
                .filter(ShippedCosts.names()::contains)
                .orElse(ShippedCosts.names().getFirst()));
    }

    /**
     * Returns the step costs, as a function of the simulated model's shape.
     *
     * @param recorded the run whose costs apply unless the flag names result files
     * @param model the model whose steps are simulated
     * @throws BadInput if there are no costs for that model
     */
    public Function<ModelSpec, StepCosts> costs(Optional<RecordedRun> recorded, String model) {
        if (recorded.isPresent() && stepCosts.filter(StepCostsChoice::isFiles).isEmpty()) {
            StepCosts own = StepCosts.of(List.of(recorded.get()));
            return spec -> own;
        }
        if (stepCosts.filter(text -> !ShippedCosts.names().contains(text)).isPresent()) {
            return StepCostsChoice.of("--step-costs", stepCosts.get());
        }
        Optional<String> matching = ShippedCosts.nameFor(model);
        String name = stepCosts
                .or(() -> matching)
                .orElseThrow(() -> new BadInput("--model is " + Quoted.value(model)
                        + ", but --backend sim has no recorded step costs of it; give --step-costs FILE, written for that"
                        + " model by bench serve --backend engine --json, roofline:DEVICE, or numbers, as in --step-costs"
                        + " step:2,token:0.1. Recorded costs: " + String.join(", ", ShippedCosts.names())));
        if (!ShippedCosts.isOf(name, model)) {
            throw new BadInput("--step-costs is " + name + ", which was recorded with " + ShippedCosts.model(name)
                    + ", but --model is " + Quoted.value(model) + "; leave --model out, or give other costs");
        }
        return StepCostsChoice.of("--step-costs", name);
    }

    /**
     * Returns the durations of one run.
     *
     * @param seed seed of the random deviations
     */
    public StepTimes times(StepCosts costs, long seed) {
        StepTimes times = costs.times();
        return new StepTimes(scale == 1 ? times.costs() : times.costs().times(scale), pace(costs, seed), times.host());
    }

    /** Returns the source of costs, and the factor of {@code --step-cost-scale} if it is not 1. */
    public String scaled(String source) {
        return scale == 1 ? source : source + ", multiplied by " + scale + ", so that no validation applies";
    }

    private Pace pace(StepCosts costs, long seed) {
        if (noise.isEmpty()) {
            return costs.times().pace();
        }
        String word = noise.get();
        if (RECORDED.contains(word) || RESAMPLED.contains(word)) {
            LongFunction<Pace> resampled = costs.resampled()
                    .orElseThrow(() -> new BadInput(
                            "--step-noise " + word + " needs recorded runs; give them with --step-costs, or a number"));
            return RECORDED.contains(word) ? costs.times().pace() : resampled.apply(seed);
        }
        double sigma = number("--step-noise", word, "recorded, resampled or a number, as in 0.02");
        return sigma == 0 ? Pace.EVEN : Pace.logNormal(sigma, seed);
    }

    static double number(String flag, String text, String allowed) {
        try {
            double value = Double.parseDouble(text);
            if (value >= 0 && Double.isFinite(value)) {
                return value;
            }
        } catch (NumberFormatException notNumber) {
            // Reported below.
        }
        throw new BadInput(flag + " has " + Quoted.value(text) + "; it must be " + allowed);
    }
}
