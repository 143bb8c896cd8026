package io.roseinfer.engine;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.RoseException.Overloaded;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.tokenizer.Tokenizer;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * Runs many requests through the real engine with all its threads, in one random setup after another, and compares each
 * outcome with the solo run. It is meant to find what the deterministic simulation cannot: races between the engine,
 * readers, tokenizers, cancellations and closing.
 *
 * <p>{@code tools/sim --soak} runs a million requests.
 */
final class ThreadedSoak {
    private static final long PATIENCE_SECONDS = 60;
    private static final int DISTINCT = 24;
    private static final String[] TEXTS = {"Once upon a time", "a", "the the the", "Hello there", "we are"};

    private final Tokenizer tokenizer;

    ThreadedSoak() {
        try (ModelFiles files = ModelFiles.openBuiltin("tiny")) {
            tokenizer = files.tokenizer().orElseThrow();
        }
    }

    /**
     * Runs setups from the command line; started by {@code tools/sim --soak}.
     *
     * @param args number of setups (2500), requests in each (400), the seed of the first (the time)
     * @return 0 if all passed, 1 at the first failure, 2 if the arguments are invalid
     */
    static int run(PrintStream out, String... args) {
        long[] numbers = {2500, 400, System.currentTimeMillis()};
        try {
            for (int i = 0; i < args.length; i++) {
                numbers[i] = Long.decode(args[i]);
            }
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
            out.println("tools/sim --soak [SETUPS [REQUESTS [SEED]]]");
            return 2;
        }
        return new ThreadedSoak().run(out, numbers[0], Math.toIntExact(numbers[1]), numbers[2]);
    }

    private int run(PrintStream out, long setups, int requests, long first) {
        out.printf("%d set-ups of %d requests, seeds from %d%n", setups, requests, first);
        long start = System.nanoTime();
        long early = 0;
        for (long seed = first; seed < first + setups; seed++) {
            try {
                early += run(seed, requests);
            } catch (AssertionError wrong) {
                out.printf("FAILED --soak 1 %d %d: %s%n", requests, seed, wrong.getMessage());
                return 1;
            }
        }
        double seconds = (System.nanoTime() - start) * 1e-9;
        out.printf("%d requests, %d of them ended early, in %.1f s%n", setups * requests, early, seconds);
        return 0;
    }

    /** Runs one setup; fails with the seed and the failure, or returns how many requests were ended early. */
    int run(long seed, int requests) {
        SimulationSettings settings = SimulationSettings.of(seed);
        Dice dice = new Dice(seed, "soak");
        EngineOptions options = settings.engine()
                .withTokenizeWorkers(dice.oneOf(0, 1, 2))
                .withStepHistory(16)
                .withMaxInflightRequests(dice.coin() ? requests : dice.between(1, 60));
        SimOptions sim = SimOptions.defaults().withSeed(seed).withMaxInFlight(settings.maxInFlight());
        try (SimRunner runner =
                        new SimRunner(settings.spec(), EngineLimits.runnerLimits(options, settings.spec()), sim);
                ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor()) {
            Engine engine = Engine.open(runner, Optional.of(tokenizer), options, Clock.system());
            try {
                return new Setup(engine, distinct(settings, dice), readers, dice).run(requests);
            } catch (AssertionError wrong) {
                dumpThreads();
                throw new AssertionError("seed " + seed + ": " + wrong.getMessage() + "; " + settings, wrong);
            }
        }
    }

    private List<SoakRequest> distinct(SimulationSettings settings, Dice dice) {
        Workload workload = new Workload(settings);
        try (SoloRun solo = new SoloRun(settings)) {
            return Stream.generate(() -> asText(workload.next(), settings, dice))
                    .limit(DISTINCT)
                    .map(request -> SoakRequest.of(request, solo, tokenizer, settings.endOfText(), dice))
                    .toList();
        }
    }

    /** Returns some requests with a text prompt instead, if the model has its tokens and there is room for them. */
    private GenerationRequest asText(GenerationRequest request, SimulationSettings settings, Dice dice) {
        String text = TEXTS[dice.below(TEXTS.length)];
        int[] ids = tokenizer.encode(text);
        boolean fits = ids.length + request.maxNewTokens() <= settings.room();
        for (int id : ids) {
            fits &= id < settings.vocabularySize();
        }
        return fits && dice.coin() ? request.withPrompt(new Prompt.Text(text)) : request;
    }

    private static void dumpThreads() {
        Thread.getAllStackTraces().forEach((thread, stack) -> {
            if (thread.getName().startsWith("roseinfer")) {
                System.err.println(thread + " " + thread.getState());
                for (StackTraceElement element : stack) {
                    System.err.println("    " + element);
                }
            }
        });
    }

    /** One engine and its load. */
    private final class Setup {
        private final Engine engine;
        private final List<SoakRequest> distinct;
        private final ExecutorService readers;
        private final Dice dice;
        private final boolean calm;
        private final List<Running> running = new ArrayList<>();

        private record Running(SoakRequest request, SoakReader reader, Future<Completion> outcome) {}

        Setup(Engine engine, List<SoakRequest> distinct, ExecutorService readers, Dice dice) {
            this.engine = engine;
            this.distinct = distinct;
            this.readers = readers;
            this.dice = dice;
            this.calm = dice.chance(0.3);
        }

        int run(int requests) {
            int closeAt = dice.chance(0.1) ? dice.below(requests) : requests;
            for (int i = 0; i < closeAt; i++) {
                submit();
            }
            boolean early = closeAt < requests;
            if (early) {
                end();
                Require.that(isRefusing(), "a closed engine accepts requests");
            }
            int cancelled = 0;
            for (Running one : running) {
                Completion seen = outcome(one);
                one.request().check(seen, tokenizer, early || one.reader().closes());
                cancelled += seen.finishReason() == FinishReason.CANCELLED ? 1 : 0;
            }
            if (!early) {
                awaitNothingLeft();
                end();
            }
            Require.that(engine.inflight() == 0, "%d in flight when all is over", engine.inflight());
            return cancelled;
        }

        /** Submits a request as soon as there is capacity for it. */
        private void submit() {
            SoakRequest request = distinct.get(dice.below(distinct.size()));
            SoakReader reader = calm ? SoakReader.EAGER : SoakReader.values()[dice.below(SoakReader.values().length)];
            long seed = SplitMix64.at(dice.below(Integer.MAX_VALUE), 0);
            long deadline = deadline();
            while (true) {
                try {
                    TokenStream stream = engine.submit(request.request());
                    running.add(new Running(request, reader, readers.submit(() -> reader.read(stream, seed))));
                    return;
                } catch (Overloaded full) {
                    Require.that(System.nanoTime() < deadline, "no place came free");
                    LockSupport.parkNanos(20_000);
                }
            }
        }

        private boolean isRefusing() {
            try {
                engine.submit(distinct.getFirst().request()).close();
                return false;
            } catch (EngineStopped refused) {
                return true;
            }
        }

        private static Completion outcome(Running one) {
            try {
                return one.outcome().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            } catch (TimeoutException e) {
                throw new AssertionError("no outcome of " + one, e);
            } catch (ExecutionException | InterruptedException e) {
                throw new AssertionError("failed: " + e.getCause() + " of " + one, e);
            }
        }

        private void awaitNothingLeft() {
            long deadline = deadline();
            EngineStats stats = engine.stats();
            while (stats.active() > 0 || stats.waiting() > 0 || stats.blocksInUse() > 0) {
                Require.that(System.nanoTime() < deadline, "still in use: %s", stats);
                LockSupport.parkNanos(20_000);
                stats = engine.stats();
            }
        }

        /** Closes immediately or with grace; the caller's timeout detects a hanging close. */
        private void end() {
            Duration grace = Duration.ofMillis(dice.below(20));
            boolean atOnce = dice.coin();
            Future<Boolean> closed = readers.submit(() -> {
                if (!atOnce) {
                    return engine.close(grace);
                }
                engine.close();
                return false;
            });
            try {
                closed.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            } catch (TimeoutException | ExecutionException | InterruptedException e) {
                throw new AssertionError("close: " + e, e);
            }
        }

        private static long deadline() {
            return System.nanoTime() + PATIENCE_SECONDS * 1_000_000_000;
        }
    }
}
