package io.roseinfer.engine;

import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.scheduler.FinishReason;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Simulates one seed: requests arrive, are read, cancelled and disturbed by device faults. Then arrivals and faults
 * stop, and all requests must end. Every check of {@link SimulatedEngine} runs after every iteration.
 */
final class Simulation {
    /** Iterations after the last arrival in which faults continue. */
    private static final int FAULT_ITERATIONS = 40;

    /**
     * The random stream of deadlines and priorities; with this name the seeds of regressions.txt keep the runs they
     * failed with.
     */
    private static final String TERMS = "terms 200";

    /** The random stream of jumps in time, named for the same reason. */
    private static final String LEAPS = "leaps 658010";

    /**
     * The result of a run.
     *
     * @param traceHash hash of all events; equal for equal seeds
     * @param maxPreemptions maximum preemptions of one request
     * @param maxPasses maximum skips of one request
     */
    record Outcome(
            long traceHash,
            int iterations,
            int requests,
            long steps,
            int lostSteps,
            long preemptions,
            int maxPreemptions,
            long cachedTokens,
            int maxPasses,
            long draftTokens,
            long acceptedTokens,
            long cancelled,
            long failed) {}

    private final SimulationSettings settings;
    private final SimulatedEngine engine;
    private final Workload workload;
    private final Dice arrivals;
    private final Dice cancels;
    private final Dice readers;
    private final Dice time;
    private final Dice terms;
    private final Dice leaps;
    private final boolean isLeaping;
    private final double dueRate;
    private int toArrive;

    private Simulation(SimulationSettings settings, SimulatedEngine engine) {
        this.settings = settings;
        this.engine = engine;
        this.workload = new Workload(settings);
        this.arrivals = new Dice(settings.seed(), "arrivals");
        this.cancels = new Dice(settings.seed(), "cancels");
        this.readers = new Dice(settings.seed(), "readers");
        this.time = new Dice(settings.seed(), "time");
        this.terms = new Dice(settings.seed(), TERMS);
        this.leaps = new Dice(settings.seed(), LEAPS);
        this.isLeaping = leaps.chance(0.7);
        this.dueRate = terms.oneOf(0, 0, 0, 0.1, 0.5);
        this.toArrive = settings.requests();
    }

    /**
     * Runs a seed.
     *
     * @throws AssertionError if a check fails, with the iteration, the observed values and how to reproduce it
     */
    static Outcome run(long seed) {
        return run(seed, Trace.silent());
    }

    static Outcome run(long seed, Trace trace) {
        return run(SimulationSettings.of(seed), trace);
    }

    static Outcome run(SimulationSettings settings, Trace trace) {
        try (SimulatedEngine engine = new SimulatedEngine(settings, trace)) {
            try {
                new Simulation(settings, engine).run();
            } catch (RuntimeException | AssertionError e) {
                String what = e.getMessage() == null ? e.toString() : e.getMessage();
                throw new AssertionError(
                        "iteration " + engine.iterations() + ": " + what + "; repeat it with tools/sim --seed "
                                + settings.seed(),
                        e);
            }
            return outcome(engine, trace);
        }
    }

    private static Outcome outcome(SimulatedEngine engine, Trace trace) {
        List<WatchedRequest> requests = engine.requests();
        return new Outcome(
                trace.hash(),
                engine.iterations(),
                requests.size(),
                engine.scheduler().steps(),
                engine.lostSteps(),
                engine.scheduler().total(Fact.PREEMPTIONS),
                requests.stream().mapToInt(WatchedRequest::preemptions).max().orElse(0),
                engine.scheduler().total(Fact.CACHED_TOKENS),
                requests.stream().mapToInt(WatchedRequest::skips).max().orElse(0),
                engine.scheduler().total(Fact.DRAFT_TOKENS),
                engine.scheduler().total(Fact.ACCEPTED_TOKENS),
                requests.stream()
                        .filter(r -> r.endedWith(FinishReason.CANCELLED))
                        .count(),
                requests.stream().filter(r -> r.endedWith(FinishReason.ERROR)).count());
    }

    private void run() {
        engine.meanwhile(() -> {
            pass();
            cancel();
        });
        int calm = cancels.below(FAULT_ITERATIONS);
        while (toArrive > 0 || calm-- > 0) {
            if (engine.iterations() == settings.faults().closeAtIteration() && !engine.isStopped()) {
                engine.close(FinishReason.CANCELLED);
            }
            arrive();
            cancel();
            pass();
            leap();
            if (engine.isStopped()) {
                toArrive = Math.min(toArrive, 2);
            }
            engine.runIteration();
            read();
        }
        engine.meanwhile(() -> {});
        engine.drain();
        engine.checkOutcomes();
    }

    private void pass() {
        engine.advance(time.below(1000));
    }

    /** Jumps past the deadline of a request, usually of a preempted one. */
    private void leap() {
        if (!isLeaping) {
            return;
        }
        List<WatchedRequest> due = engine.requests().stream()
                .filter(WatchedRequest::hasDeadlineAhead)
                .toList();
        Optional<WatchedRequest> restarted =
                due.stream().filter(request -> request.preemptions() > 0).findFirst();
        if (restarted.isPresent() && leaps.coin()) {
            engine.advanceToDeadline(restarted.get());
        } else if (!due.isEmpty() && leaps.chance(0.05)) {
            engine.advanceToDeadline(due.get(leaps.below(due.size())));
        }
    }

    private void arrive() {
        while (toArrive > 0 && arrivals.chance(settings.arrivalRate())) {
            toArrive--;
            pass();
            engine.submit(withTerms(workload.next()), readers.chance(0.8));
        }
    }

    /** Adds a priority, and perhaps a deadline that passes immediately, soon or never. */
    private GenerationRequest withTerms(GenerationRequest request) {
        GenerationRequest ranked = request.withPriority(terms.below(3)).withTag(terms.below(100));
        return terms.chance(dueRate)
                ? ranked.withTimeout(Duration.ofNanos(terms.oneOf(1, 2_000, 20_000, 1_000_000)))
                : ranked;
    }

    /** Closes a stream of any age and in any state, perhaps twice. */
    private void cancel() {
        while (!engine.requests().isEmpty() && cancels.chance(settings.cancelRate())) {
            int newest = engine.requests().size() - 1;
            int age = cancels.coin() ? cancels.below(Math.min(3, newest + 1)) : cancels.below(newest + 1);
            WatchedRequest request = engine.requests().get(newest - age);
            engine.cancel(request);
            if (cancels.chance(0.2)) {
                engine.cancel(request);
            }
        }
    }

    private void read() {
        for (WatchedRequest request : engine.requests()) {
            if (request.reads() && readers.chance(settings.readRate())) {
                request.read();
            }
        }
    }
}
