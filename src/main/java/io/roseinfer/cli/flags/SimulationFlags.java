package io.roseinfer.cli.flags;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.replay.Pace;
import io.roseinfer.bench.replay.RecordedRun;
import io.roseinfer.bench.replay.ShippedCosts;
import io.roseinfer.bench.replay.StepCosts;
import io.roseinfer.bench.replay.StepTimes;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
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
    @Within(above = 0, max = 1000)
    private double scale = 1;

    @Option(
            names = "--step-noise",
            paramLabel = "<recorded|resampled|SIGMA>",
            description = {
                "On --backend sim: recorded repeats the machine's speed over time in the recorded runs, resampled multiplies each step by the ratio of a random"
                        + " recorded step of like cost, SIGMA is the deviation of a random log-normal factor of mean 1",
                "(default: resampled with a file of --step-costs or --engine-costs, also in bench replay; recorded with the costs of a replayed run;"
                        + " else 0)."
            },
            showDefaultValue = Visibility.NEVER)
    private Optional<String> noise = Optional.empty();

    /**
     * Returns the step costs that were chosen, or empty if the built-in ones of the model apply.
     *
     * @param recorded the run whose costs apply unless the flag names result files
     * @throws BadInput if the flag is invalid
     */
    public Optional<StepCostsChoice> costs(Optional<RecordedRun> recorded) {
        if (recorded.isPresent() && stepCosts.filter(StepCostsChoice::isFiles).isEmpty()) {
            return recorded.map(run -> StepCostsChoice.of(run.name(), StepCosts.ofReplayed(run)));
        }
        return stepCosts.map(text -> StepCostsChoice.of("--step-costs", text));
    }

    /** Returns the default model of a simulation: the recorded model of the costs, or else the model of the first built-in costs. */
    public static String defaultModel(Optional<StepCostsChoice> costs) {
        return costs.map(choice -> choice.model().name())
                .filter(model -> !model.isEmpty())
                .orElseGet(() -> ShippedCosts.model(ShippedCosts.names().getFirst()));
    }

    /**
     * Returns the built-in step costs of a model.
     *
     * @throws BadInput if there are none
     */
    public static StepCostsChoice builtInCosts(String model) {
        String name = ShippedCosts.nameFor(model)
                .orElseThrow(() -> new BadInput("--model is " + Quoted.value(model)
                        + ", but --backend sim has no recorded step costs of it; give --step-costs FILE, written for that"
                        + " model by bench serve --backend engine --json, roofline:DEVICE, or numbers, as in --step-costs"
                        + " step:2,token:0.1. Recorded costs: " + String.join(", ", ShippedCosts.names())));
        return StepCostsChoice.of("--step-costs", name);
    }

    /** Returns costs with the factor of {@code --step-cost-scale}. */
    public StepCosts scaled(StepCosts costs) {
        return scale == 1 ? costs : costs.scaled(scale);
    }

    /** Returns whether step times vary at random by {@code --step-noise SIGMA}. */
    public boolean hasRandomNoise() {
        return noise.filter(word -> !RECORDED.contains(word) && !RESAMPLED.contains(word))
                .filter(sigma -> sigma(sigma) > 0)
                .isPresent();
    }

    /**
     * Returns the durations of one run.
     *
     * @param seed seed of the random deviations
     */
    public StepTimes times(StepCosts costs, long seed) {
        return new StepTimes(
                costs.times().costs(), pace(costs, seed), costs.times().host());
    }

    private Pace pace(StepCosts costs, long seed) {
        if (noise.isEmpty()) {
            return costs.resampled()
                    .filter(pace -> !costs.replayed())
                    .map(pace -> pace.apply(seed))
                    .orElse(costs.times().pace());
        }
        String word = noise.get();
        if (RECORDED.contains(word) || RESAMPLED.contains(word)) {
            LongFunction<Pace> resampled = costs.resampled()
                    .orElseThrow(() -> new BadInput(
                            "--step-noise " + word + " needs recorded runs; give them with --step-costs, or a number"));
            return RECORDED.contains(word) ? costs.times().pace() : resampled.apply(seed);
        }
        double sigma = sigma(word);
        return sigma == 0 ? Pace.EVEN : Pace.logNormal(sigma, seed);
    }

    private static double sigma(String text) {
        return number("--step-noise", text, "recorded, resampled or a number, as in 0.02");
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
