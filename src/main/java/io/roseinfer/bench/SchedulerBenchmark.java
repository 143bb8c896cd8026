package io.roseinfer.bench;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.bench.RunListener.Phase;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.OnlineScheduler;
import io.roseinfer.observe.Observers;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.ArrayList;
import java.util.List;

/**
 * Drives the scheduler directly on the caller's thread, without queue, streams or engine thread, to measure only scheduling and
 * computation. Every run has a new scheduler with an empty prefix cache.
 */
public final class SchedulerBenchmark {
    private final ModelRunner runner;
    private final SchedulerOptions options;
    private final List<GenerationRequest> requests;
    private final long seed;
    private final Clock clock;
    private final Observers observers;

    /** The order in which requests are added and computed. */
    public enum Mode {
        /**
         * Requests are added one after the other, each prefilled before the next, then decoded together. If there is no room for
         * another one, the earlier ones decode until there is.
         */
        ONLINE,
        /** All requests are added at once, prefilled in batches, then decoded together. */
        OFFLINE,
        /** Requests run one at a time, from first to last token: the baseline without batching. */
        NAIVE;

        @Override
        public String toString() {
            return switch (this) {
                case ONLINE -> "online";
                case OFFLINE -> "offline";
                case NAIVE -> "naive";
            };
        }
    }

    /**
     * @param requests requests of token ids; nothing is tokenized
     * @param seed base seed: request i has {@code seed + i}
     * @param observers observers of every step
     */
    public SchedulerBenchmark(
            ModelRunner runner,
            SchedulerOptions options,
            List<GenerationRequest> requests,
            long seed,
            Clock clock,
            Observers observers) {
        this.runner = runner;
        this.options = options;
        this.requests = List.copyOf(requests);
        this.seed = seed;
        this.clock = clock;
        this.observers = observers;
    }

    /** Runs warm-ups and measured runs, and returns the latter. */
    public List<SchedulerRun> run(Mode mode, int warmups, int repeats, SchedulerListener listener) {
        List<SchedulerRun> measured = new ArrayList<>();
        for (int number = 1; number <= warmups; number++) {
            listener.started(Phase.WARMUP, number, warmups);
            runOnce(mode);
        }
        for (int number = 1; number <= repeats; number++) {
            listener.started(Phase.MEASURED, number, repeats);
            measured.add(runOnce(mode));
            listener.measured(measured.getLast());
        }
        return measured;
    }

    /** Listener for the start of each run and the end of each measured run. */
    @FunctionalInterface
    public interface SchedulerListener {
        void started(Phase phase, int number, int of);

        default void measured(SchedulerRun run) {}
    }

    private SchedulerRun runOnce(Mode mode) {
        return switch (mode) {
            case ONLINE -> online();
            case OFFLINE -> offline();
            case NAIVE -> naive();
        };
    }

    private SchedulerRun online() {
        SchedulerProgress progress = progress();
        for (int i = 0; i < requests.size(); i++) {
            progress.add(i);
        }
        progress.finishAll();
        return progress.result();
    }

    private SchedulerRun offline() {
        SchedulerProgress progress = progress();
        for (int i = 0; i < requests.size(); i++) {
            progress.enqueue(i);
        }
        progress.finishAll();
        return progress.result();
    }

    private SchedulerRun naive() {
        SchedulerProgress progress = progress();
        for (int i = 0; i < requests.size(); i++) {
            progress.add(i);
            progress.finishAll();
        }
        return progress.result();
    }

    private SchedulerProgress progress() {
        return new SchedulerProgress(
                new OnlineScheduler(runner, options, () -> 0, 1, observers), requests, seed, clock);
    }
}
