package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Constraints of requests, on a simulated device with one and two steps in flight. */
class TokenConstraintsTest {
    private static final int TOKENS = 20;

    private static Engine engine(int inFlight) {
        return Models.engine(Models.options(), SimOptions.defaults().withMaxInFlight(inFlight));
    }

    private static GenerationRequest ending(int... prompt) {
        return Models.request(TOKENS, prompt).withIgnoreEndOfText(false);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void only_allowed_tokens_are_generated(int inFlight) {
        try (Engine engine = engine(inFlight)) {
            int[] ids = engine.generate(Models.request(TOKENS, 1, 2).withAllowedTokens(3, 500, 998))
                    .ids();
            assertThat(ids).hasSize(TOKENS);
            assertThat(Arrays.stream(ids).distinct()).isSubsetOf(3, 500, 998).hasSizeGreaterThan(1);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void stop_tokens_do_not_end_a_completion_before_min_tokens(int inFlight) {
        try (Engine engine = engine(inFlight)) {
            int[] free = engine.generate(Models.request(TOKENS, 1, 2)).ids();
            GenerationRequest stopping = ending(1, 2).withStopTokens(free[0], free[4]);
            assertThat(engine.generate(stopping).ids()).containsExactly(free[0]);
            GenerationRequest longer = stopping.withAllowedTokens(free[0], 7, Models.END);
            for (int min = 1; min < 6; min++) {
                int[] ids = engine.generate(longer.withMinTokens(min)).ids();
                assertThat(ids).hasSizeGreaterThan(min);
                assertThat(Arrays.copyOf(ids, min)).containsOnly(7);
            }
        }
    }

    @Test
    void invalid_constraint_is_rejected_under_its_own_name() {
        try (Engine engine = engine(1)) {
            assertThatThrownBy(() -> engine.submit(Models.request(TOKENS, 1).withMinTokens(99)))
                    .isInstanceOf(BadInput.class)
                    .hasMessage("minTokens is 99; it must be 0 to maxNewTokens (" + TOKENS + ")");
            assertThatThrownBy(() -> engine.submit(Models.request(TOKENS, 1).withAllowedTokens(999_999)))
                    .isInstanceOf(BadInput.class)
                    .hasMessageStartingWith("allowed_token_ids has token id 999999; ids of this model are 0 to");
            assertThatThrownBy(() -> engine.submit(Models.request(TOKENS, 1).withLogitBias(Map.of(999_999, 1f))))
                    .isInstanceOf(BadInput.class)
                    .hasMessageStartingWith("logit_bias has token id 999999");
        }
    }

    @Test
    void bad_words_are_not_generated() {
        try (ModelFiles files = ModelFiles.openBuiltin("tiny")) {
            Tokenizer tokenizer = files.tokenizer().orElseThrow();
            int vocabulary = files.spec().vocabularySize();
            int[] word = tokenizer.encode("then");
            int[] allowed = IntStream.concat(Arrays.stream(word), IntStream.of(vocabulary / 2))
                    .distinct()
                    .toArray();
            EngineOptions options = Models.options();
            SimOptions sim = SimOptions.defaults().withMaxInFlight(2);
            SimRunner runner = new SimRunner(files.spec(), EngineLimits.runnerLimits(options, files.spec()), sim);
            try (Engine engine = Engine.open(runner, Optional.of(tokenizer), options, Models.ticking())) {
                List<int[]> free = new ArrayList<>();
                for (int prompt = 0; prompt < 20; prompt++) {
                    GenerationRequest request = Models.request(60, prompt).withAllowedTokens(allowed);
                    free.add(engine.generate(request).ids());
                    assertThat(contains(
                                    engine.generate(request.withBadWords("then"))
                                            .ids(),
                                    word))
                            .isFalse();
                }
                assertThat(free).anyMatch(ids -> contains(ids, word));
            }
        }
    }

    private static boolean contains(int[] ids, int[] word) {
        return IntStream.rangeClosed(0, ids.length - word.length)
                .anyMatch(at -> Arrays.equals(ids, at, at + word.length, word, 0, word.length));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void request_without_an_allowed_token_fails_alone_with_the_reason(int inFlight) {
        try (Engine engine = engine(inFlight)) {
            GenerationRequest impossible =
                    ending(1, 2).withAllowedTokens(Models.END).withMinTokens(1);
            TokenStream other = engine.submit(Models.request(TOKENS, 5));
            assertThatThrownBy(() -> engine.generate(impossible))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("no token is allowed");
            assertThat(other.completion().finishReason()).isEqualTo(FinishReason.LENGTH);
        }
    }

    @Test
    void constraints_beyond_the_model_are_rejected_at_submission() {
        try (Engine engine = engine(1)) {
            GenerationRequest request = Models.request(TOKENS, 1);
            assertThatThrownBy(() -> engine.submit(request.withAllowedTokens(Models.VOCABULARY)))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("token id 1000");
            assertThatThrownBy(() -> engine.submit(request.withLogitBias(Map.of(Models.VOCABULARY, 1f))))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("logit_bias");
            assertThatThrownBy(() -> engine.submit(request.withMinTokens(TOKENS + 1)))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("minTokens");
            assertThatThrownBy(() -> engine.submit(request.withBadWords("a")))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("no tokenizer");
        }
    }
}
