package io.roseinfer.cli.flags;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.replay.CostTable;
import io.roseinfer.bench.replay.Pace;
import io.roseinfer.bench.replay.RecordedRun;
import io.roseinfer.bench.replay.ShippedCosts;
import io.roseinfer.bench.replay.StepCosts;
import io.roseinfer.bench.replay.StepTimes;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongFunction;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** Flags for the durations in simulated time. */
@Heading("Simulated time")
public final class SimulationFlags {
    private static final String LINEAR = "step:MS,token:MS,attended:MS";

    /** Values of {@code --step-noise}; the second of each is an older name. */
    private static final List<String> RECORDED = List.of("recorded", "held");

    private static final List<String> RESAMPLED = List.of("resampled", "drawn");

    @Option(
            names = "--step-costs",
            paramLabel = "<FILE|LINEAR>",
            description = {
                "On --backend sim: step times, from a result file of --backend engine or as " + LINEAR
                        + " per step, token and attended position",
                "(default: times recorded with one model on one GPU; results name them)."
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
                "On --backend sim: recorded repeats the machine's speed over time in the recorded run, resampled adds recorded"
                        + " deviations at random, SIGMA is the deviation of a random log-normal factor",
                "(default: recorded with a file, else 0)."
            },
            showDefaultValue = Visibility.NEVER)
    private Optional<String> noise = Optional.empty();

    /** Returns the recorded run that {@code --step-costs} names; empty if it has numbers. */
    public Optional<RecordedRun> recorded() {
        return stepCosts.filter(text -> !isLinear(text)).map(text -> RecordedRun.read(Path.of(text)));
    }

    private static boolean isLinear(String text) {
        return text.matches("(step|token|attended):.*");
    }

    /**
     * Returns the step costs.
     *
     * @param recorded the run of {@code --step-costs}, or another one if the flag is absent
     * @param model the model whose steps are simulated
     * @throws BadInput if there are no costs for that model
     */
    public StepCosts costs(Optional<RecordedRun> recorded, String model) {
        if (recorded.isPresent()) {
            return StepCosts.of(recorded.get());
        }
        if (stepCosts.isPresent()) {
            return StepCosts.linear(stepCosts.get(), linear(stepCosts.get()));
        }
        if (!ShippedCosts.isOf(model)) {
            throw new BadInput("--model is " + Quoted.value(model) + ", but --backend sim has step costs of "
                    + ShippedCosts.model() + " only; give --step-costs FILE, written for that model by bench serve"
                    + " --backend engine --json, or numbers, as in --step-costs step:2,token:0.1");
        }
        return ShippedCosts.load();
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

    private Pace pace(StepCosts costs, long seed) {
        if (noise.isEmpty()) {
            return costs.times().pace();
        }
        String word = noise.get();
        if (RECORDED.contains(word) || RESAMPLED.contains(word)) {
            LongFunction<Pace> resampled = costs.resampled()
                    .orElseThrow(() -> new BadInput(
                            "--step-noise " + word + " needs a recorded run; give one with --step-costs, or a number"));
            return RECORDED.contains(word) ? costs.times().pace() : resampled.apply(seed);
        }
        double sigma = number("--step-noise", word, "recorded, resampled or a number, as in 0.02");
        return sigma == 0 ? Pace.EVEN : Pace.logNormal(sigma, seed);
    }

    private static CostTable linear(String text) {
        Map<String, Double> nanos = new HashMap<>();
        for (String part : text.split(",", -1)) {
            String[] pair = part.split(":", 2);
            if (pair.length < 2 || !List.of("step", "token", "attended").contains(pair[0])) {
                throw new BadInput("--step-costs is " + Quoted.value(text) + "; it must be a file, or " + LINEAR);
            }
            nanos.put(pair[0], number("--step-costs", pair[1], "milliseconds, as in step:2,token:0.1") * 1e6);
        }
        return CostTable.linear(
                nanos.getOrDefault("step", 0.0), nanos.getOrDefault("token", 0.0), nanos.getOrDefault("attended", 0.0));
    }

    private static double number(String flag, String text, String allowed) {
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
