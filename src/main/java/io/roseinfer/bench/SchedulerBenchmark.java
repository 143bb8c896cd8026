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
 * Drives the scheduler by hand on the caller's thread: no queue, no streams, no engine thread. What is left is the cost of
 * scheduling and computing. Every run has a fresh scheduler, so a prefix cache starts empty.
 */
public final class SchedulerBenchmark {
    private final ModelRunner runner;
    private final SchedulerOptions options;
    private final List<GenerationRequest> requests;
    private final long seed;
    private final Clock clock;
    private final Observers observers;

    /** How requests reach the scheduler. */
    public enum Mode {
        /**
         * Added one after the other, each prefilled before the next comes; then decoded together. Where there is no room for
         * another, the earlier ones decode until there is.
         */
        ONLINE,
        /** All known at once: prefilled in batches, then decoded together. */
        OFFLINE,
        /** One request from its first to its last token, then the next: what batching is compared with. */
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
     * @param requests requests of token ids; there is no tokenizer on this path
     * @param seed where the requests' random streams start: request i has {@code seed + i}
     * @param observers are told of every step
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

    /** Runs everything and returns the measured runs. */
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

    /** Told which run begins, and of each measured one that is over. */
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
