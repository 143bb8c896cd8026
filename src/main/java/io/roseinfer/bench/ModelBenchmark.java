package io.roseinfer.bench;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.observe.Observers;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Benchmark of a model on a device: prefill and decode steps of given shapes, without scheduler or queue. Comparable with the
 * prefill and decode benchmarks of other engines.
 *
 * <p>A prefill run is one step. A decode run is {@code decodeSteps} steps starting at {@code context} tokens, in which each row is fed
 * its sampled tokens; if the device supports several steps in flight, they are used. Prompts are computed once, and every run
 * overwrites the tokens of the previous one. A prefill before each decode run would heat the device, and a GPU at its power limit
 * lowers its clock.
 */
public final class ModelBenchmark {
    private static final double NANOS_PER_MILLI = 1e6;

    private final ModelRunner runner;
    private final Settings settings;
    private final Clock clock;
    private final Observers observers;

    /**
     * The warm-up of a point: it runs at least {@code runs} times and {@code nanos} nanoseconds. The time is for the JVM, which
     * compiles the code that feeds a fast device only after thousands of calls.
     */
    public record WarmUp(int runs, long nanos) {
        /** Returns a warm-up of at least three runs and one second. */
        public static WarmUp defaults() {
            return new WarmUp(3, TimeUnit.SECONDS.toNanos(1));
        }
    }

    /**
     * The measured points and the number of runs.
     *
     * @param points the step shapes; at least one
     * @param context tokens of each row before the first decode step
     * @param decodeSteps steps per decode run
     * @param warmUp warm-up of each point
     * @param repeats measured runs of each point
     */
    public record Settings(List<ModelPoint> points, int context, int decodeSteps, WarmUp warmUp, int repeats) {
        public Settings {
            points = List.copyOf(points);
        }

        /** Returns the maximum tokens per row of a point. */
        private long rowTokens(ModelPoint point) {
            return switch (point) {
                case ModelPoint.Prefill prefill -> prefill.tokens();
                case ModelPoint.Decode decode -> (long) context + decodeSteps;
            };
        }

        /**
         * Returns engine options for a runner that supports every point, with no more KV blocks than needed.
         *
         * @param contextLength the model's context in tokens
         * @throws BadInput if a point exceeds the context
         */
        public EngineOptions engineOptions(EngineOptions base, int contextLength) {
            int rows = 1;
            int prefillRows = 1;
            int blocks = 1;
            for (ModelPoint point : points) {
                requireContext(point, contextLength);
                rows = Math.max(rows, point instanceof ModelPoint.Decode ? point.rows() : 1);
                prefillRows = Math.max(prefillRows, point instanceof ModelPoint.Prefill ? point.rows() : 1);
                long wanted = (long) point.rows() * Math.ceilDiv(rowTokens(point), base.blockSize());
                blocks = Math.max(blocks, (int) Math.min(wanted, Integer.MAX_VALUE));
            }
            SchedulerOptions scheduler = SchedulerOptions.builder()
                    .maxBatchSize(rows)
                    .prefillMaxBatchSize(prefillRows)
                    .build();
            return base.withScheduler(scheduler).withKvBlocks(blocks);
        }

        private void requireContext(ModelPoint point, int contextLength) {
            if (rowTokens(point) > contextLength) {
                throw new BadInput(point + " needs " + rowTokens(point) + " tokens per row; the model's context is "
                        + contextLength + ", so use fewer tokens, a smaller --context or fewer --decode-steps");
            }
        }
    }

    /**
     * @param runner loaded for {@link Settings#engineOptions}
     * @param observers observers of every step
     * @throws BadInput if a point is wider than a step can be
     */
    public ModelBenchmark(ModelRunner runner, Settings settings, Clock clock, Observers observers) {
        this.runner = runner;
        this.settings = settings;
        this.clock = clock;
        this.observers = observers;
        settings.points().forEach(this::requireFit);
    }

    private void requireFit(ModelPoint point) {
        int tokens = runner.limits().maxTokens();
        if (point instanceof ModelPoint.Prefill && point.tokensPerStep() > tokens) {
            throw new BadInput(point + " has " + point.tokensPerStep() + " tokens; a step takes at most " + tokens
                    + ", so use fewer rows or tokens");
        }
    }

    /** Measures the points in order and passes on each result immediately. */
    public void run(Consumer<ModelTiming> results) {
        for (ModelPoint point : settings.points()) {
            results.accept(measure(point));
        }
    }

    private ModelTiming measure(ModelPoint point) {
        ModelSteps steps =
                new ModelSteps(runner, point.rows(), Math.toIntExact(settings.rowTokens(point)), observers.steps(0));
        if (point instanceof ModelPoint.Decode decode) {
            steps.prefill(decode.rows(), settings.context());
        }
        warmUp(steps, point);
        List<Double> runMillis = new ArrayList<>();
        for (int run = 0; run < settings.repeats(); run++) {
            runMillis.add(stepMillis(steps, point));
        }
        return new ModelTiming(point, runMillis);
    }

    private void warmUp(ModelSteps steps, ModelPoint point) {
        long startNanos = clock.nanos();
        int runs = 0;
        while (runs < settings.warmUp().runs()
                || clock.nanos() - startNanos < settings.warmUp().nanos()) {
            double unused = stepMillis(steps, point);
            runs++;
        }
    }

    private double stepMillis(ModelSteps steps, ModelPoint point) {
        int stepsOfRun = 1;
        long startNanos = clock.nanos();
        switch (point) {
            case ModelPoint.Prefill prefill -> steps.prefill(prefill.rows(), prefill.tokens());
            case ModelPoint.Decode decode -> {
                stepsOfRun = settings.decodeSteps();
                steps.decode(decode.rows(), settings.context(), stepsOfRun);
            }
        }
        return (clock.nanos() - startNanos) / NANOS_PER_MILLI / stepsOfRun;
    }
}
