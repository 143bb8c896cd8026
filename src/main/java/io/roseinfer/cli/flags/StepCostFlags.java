package io.roseinfer.cli.flags;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.bench.StepCost;
import io.roseinfer.bench.StepCostBenchmark;
import io.roseinfer.bench.report.StepCostReport;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.engine.EngineOptions;
import java.util.function.Consumer;
import picocli.CommandLine.Option;

/** Flags for measuring the scheduler's own time per step on the simulated device. */
@Heading("Simulated time")
public final class StepCostFlags {
    @Option(
            names = "--running",
            paramLabel = "<N[,N...]>",
            converter = Numbers.Parser.class,
            preprocessor = Within.Check.class,
            description = "On sim: numbers of running requests to measure.")
    @Within(min = 1, max = 16_384)
    private Numbers running = Numbers.of(1, 8, 64, 256, 1024);

    @Option(
            names = "--waiting",
            paramLabel = "<N[,N...]>",
            converter = Numbers.Parser.class,
            preprocessor = Within.Check.class,
            description = "On sim: numbers of waiting requests to measure.")
    @Within(min = 0, max = 1_000_000)
    private Numbers waiting = Numbers.of(0, 1000, 100_000);

    @Option(
            names = "--steps",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "On sim: steps to measure for each combination.")
    @Within(min = 1, max = 10_000)
    private int steps = 1000;

    /**
     * Measures all combinations and prints a line for each.
     *
     * @param results receives the result of each combination
     */
    public void run(EngineOptions options, Terminal terminal, Consumer<StepCost> results) {
        SimOptions sim = SimOptions.defaults().withReadBack(false);
        StepCostBenchmark benchmark = new StepCostBenchmark(
                (spec, limits) -> new SimRunner(spec, limits, sim), options, steps, terminal.clock());
        terminal.print(StepCostReport.header(options, steps));
        benchmark.run(running.values(), waiting.values(), cost -> {
            terminal.print(StepCostReport.row(cost));
            results.accept(cost);
        });
    }
}
