package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.Drafter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tries every order in which up to three requests can be added, cancelled and run, up to nine events, on pools of up to
 * four blocks: scheduling bugs show in small cases.
 */
@Tag("sim")
class SmallScopeTest {
    private static final int EVENTS = 9;
    private static final int REQUESTS = 3;
    private static final int STEP = -1;
    private static final int ADD = -2;

    /**
     * An engine.
     *
     * @param rate the probability that a draft is right; {@link #NO_DRAFTS} without drafts
     */
    record Scope(int blocks, int blockSize, int maxInFlight, boolean chunkedPrefill, boolean prefixCache, double rate) {
        private static final double NO_DRAFTS = -1;
        private static final long SEED = 1;
        private static final int VOCABULARY = 50;

        SimulationSettings settings() {
            SchedulerOptions scheduler = SchedulerOptions.builder()
                    .maxBatchSize(2)
                    .prefillMaxBatchSize(2)
                    .prefillMaxTokens(chunkedPrefill ? 2 : SchedulerOptions.UNLIMITED)
                    .chunkedPrefill(chunkedPrefill)
                    .prefixCache(prefixCache)
                    .drafter(rate == NO_DRAFTS ? Drafter.none() : new OracleDrafter(2, VOCABULARY, SEED, rate, 1))
                    .build();
            EngineOptions engine = EngineOptions.defaults()
                    .withScheduler(scheduler)
                    .withBlockSize(blockSize)
                    .withKvBlocks(blocks);
            return new SimulationSettings(
                    SEED,
                    engine,
                    8,
                    VOCABULARY,
                    maxInFlight,
                    0,
                    false,
                    0,
                    0,
                    1,
                    0,
                    0,
                    0,
                    1,
                    SimulationSettings.Faults.none());
        }

        /**
         * Returns one of two requests with a common prefix that need twice the pool together, or a short one that grows
         * as long.
         */
        GenerationRequest request(int index) {
            int room = settings().room();
            int promptLength = index < 2 ? room / 2 : 1;
            int[] prompt = IntStream.rangeClosed(1, promptLength).toArray();
            return GenerationRequest.ofTokens(prompt)
                    .withMaxNewTokens(room - promptLength)
                    .withIgnoreEndOfText(true);
        }
    }

    static Stream<Scope> scopes() {
        List<Scope> scopes = new ArrayList<>();
        for (int variant = 0; variant < 8; variant++) {
            int maxInFlight = 1 + variant % 2;
            boolean chunked = (variant & 2) != 0;
            boolean cached = (variant & 4) != 0;
            scopes.add(new Scope(4, 1, maxInFlight, chunked, cached, Scope.NO_DRAFTS));
            scopes.add(new Scope(3, 2, maxInFlight, chunked, cached, Scope.NO_DRAFTS));
            scopes.add(new Scope(2, 2, maxInFlight, chunked, cached, Scope.NO_DRAFTS));
            scopes.add(new Scope(4, 1, maxInFlight, chunked, cached, 0.5));
            scopes.add(new Scope(3, 2, maxInFlight, chunked, cached, 1));
        }
        return scopes.stream();
    }

    @ParameterizedTest
    @MethodSource("scopes")
    void every_order_of_adding_cancelling_and_stepping_passes_all_checks(Scope scope) {
        Search search = new Search(scope);
        search.extend(0, 0, 0);
        assertThat(search.paths).isGreaterThan(1000);
    }

    private static final class Search {
        private final Scope scope;
        private final int[] events = new int[EVENTS];
        /** The tokens of each request's solo run, the same on every path. */
        private final List<List<GeneratedToken>> alone = new ArrayList<>();

        private int paths;

        Search(Scope scope) {
            this.scope = scope;
            try (SoloRun solo = new SoloRun(scope.settings())) {
                for (int i = 0; i < REQUESTS; i++) {
                    GenerationRequest request = scope.request(i);
                    alone.add(solo.tokens(((Prompt.Tokens) request.prompt()).ids(), request, 0));
                }
            }
        }

        /** Tries every possible event after the first {@code length}. */
        void extend(int length, int added, int cancelled) {
            if (length == EVENTS) {
                play();
                paths++;
                return;
            }
            events[length] = STEP;
            extend(length + 1, added, cancelled);
            if (added < REQUESTS) {
                events[length] = ADD;
                extend(length + 1, added + 1, cancelled);
            }
            for (int request = 0; request < added; request++) {
                if ((cancelled & 1 << request) == 0) {
                    events[length] = request;
                    extend(length + 1, added, cancelled | 1 << request);
                }
            }
        }

        private void play() {
            try (SimulatedEngine engine = new SimulatedEngine(scope.settings(), Trace.silent())) {
                for (int event : events) {
                    switch (event) {
                        case STEP -> engine.runIteration();
                        case ADD ->
                            engine.submit(scope.request(engine.requests().size()), false);
                        default -> engine.cancel(engine.requests().get(event));
                    }
                }
                engine.drain();
                engine.checkOutcomes(request -> alone.get((int) request.id()));
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(scope + ", events " + Arrays.toString(events) + ": " + e.getMessage(), e);
            }
        }
    }
}
