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

/** The scheduler's own cost, measured on the simulated device. */
public final class StepCostFlags {
    @Option(
            names = "--running",
            paramLabel = "<N[,N...]>",
            converter = Ranges.RunningList.class,
            description = "On sim: how many requests run.")
    private Ranges.Numbers running = Ranges.Numbers.of(1, 8, 64, 256, 1024);

    @Option(
            names = "--waiting",
            paramLabel = "<N[,N...]>",
            converter = Ranges.WaitingList.class,
            description = "On sim: how many requests wait meanwhile.")
    private Ranges.Numbers waiting = Ranges.Numbers.of(0, 1000, 100_000);

    @Option(
            names = "--steps",
            paramLabel = "<N>",
            converter = Ranges.Steps.class,
            description = "On sim: how many steps are measured for each.")
    private int steps = 1000;

    /**
     * Measures and prints line by line.
     *
     * @param results gets the same
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
