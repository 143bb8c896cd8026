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
 * How fast the model itself is on a device: prefill and decode steps of a given shape, with neither scheduler nor queue. So
 * other engines' benchmarks of prefill and decode ask, and can be compared with it.
 *
 * <p>A run of a prefill is one step. A run of a decode is {@code decodeSteps} steps from {@code context} tokens on, each row fed
 * with what it has sampled; where the device takes several steps in flight, it gets them. The rows' prompts are computed once, and
 * every run writes over the tokens of the last: a long prefill right before a decode would heat the device, and a GPU at its power
 * limit then decodes at a lower clock.
 */
public final class ModelBenchmark {
    private static final double NANOS_PER_MILLI = 1e6;

    private final ModelRunner runner;
    private final Settings settings;
    private final Clock clock;
    private final Observers observers;

    /**
     * How long a point runs before it is measured: until it has run {@code runs} times and {@code nanos} have passed. The time
     * is for the JVM, which compiles what feeds a fast device only after thousands of calls.
     */
    public record WarmUp(int runs, long nanos) {
        /** At least three runs and a second. */
        public static WarmUp defaults() {
            return new WarmUp(3, TimeUnit.SECONDS.toNanos(1));
        }
    }

    /**
     * What is measured, and how often.
     *
     * @param points the kinds of steps; at least one
     * @param context tokens of every row before the first decode step
     * @param decodeSteps steps of a decode run
     * @param warmUp before the runs that count, of every point
     * @param repeats runs that count, of every point
     */
    public record Settings(List<ModelPoint> points, int context, int decodeSteps, WarmUp warmUp, int repeats) {
        public Settings {
            points = List.copyOf(points);
        }

        /** Most tokens a row of a point comes to. */
        private long rowTokens(ModelPoint point) {
            return switch (point) {
                case ModelPoint.Prefill prefill -> prefill.tokens();
                case ModelPoint.Decode decode -> (long) context + decodeSteps;
            };
        }

        /**
         * Engine options whose runner can take every point and holds no more KV blocks than they need.
         *
         * @param contextLength the model's context in tokens
         * @throws BadInput if a point is longer
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
     * @param observers are told of every step
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

    /** Measures the points in order; each is handed over as soon as it is known. */
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
