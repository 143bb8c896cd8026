package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.grammar.Grammar;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.model.Activation;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.model.TestLayout;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.PolicyRequest;
import io.roseinfer.scheduler.policy.StepPolicy;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.Tokenizers;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Completions of a backend are equal with and without drafts, regardless of whether these are right, if its bits do not
 * depend on the batch. {@code -Droseinfer.iters} sets the number of requests.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class SpeculationCases {
    private static final int REQUESTS = Integer.getInteger("roseinfer.iters", 300);
    private static final int ROWS = 4;
    private static final String[] TEXTS = {
        "Once upon a time there was", "the the the the the the", "we are", "a b c a b c a b c a b c"
    };

    /** Much of their texts is fixed, but not how it is divided into tokens. */
    private static final Grammar[] GRAMMARS = {
        Grammar.jsonSchema("""
                {"type": "object", "additionalProperties": false, "required": ["name", "other name", "count"],
                 "properties": {"name": {"enum": ["upon a time", "once"]}, "other name": {"const": "the the the"},
                                "count": {"type": "integer", "minimum": 0, "maximum": 99}}}"""), Grammar.regex("the (cat|dog) sat on the (mat|hat), and (so|then) did the (cat|dog)\\.")
    };

    private final ModelSpec spec;
    private final int blockSize;
    private final int fewBlocks;
    private Tokenizer tokenizer;
    private Backend backend;
    private ModelRunner runner;
    private List<GenerationRequest> requests;
    private List<Completion> expected;

    /**
     * Creates the cases for a model of 1,000 tokens with two layers and two heads.
     *
     * @param blockSize tokens of a KV block, a multiple of 4
     * @param fewBlocks blocks of a pool that is too small for all running requests
     */
    SpeculationCases(int headSize, int blockSize, int fewBlocks) {
        spec = SpecBuilder.named("words")
                .vocabulary(1000)
                .context(200)
                .width(2 * headSize)
                .layers(2)
                .heads(2)
                .inner(4 * headSize)
                .activation(Activation.GELU_TANH)
                .endOfText(2)
                .build();
        this.blockSize = blockSize;
        this.fewBlocks = fewBlocks;
    }

    /** Opens the backend under test. */
    abstract Backend open();

    @BeforeAll
    void completeWithoutDrafts() throws IOException {
        try (InputStream in = SpeculationCases.class.getResourceAsStream("/tokenizer/llama2.json")) {
            tokenizer = Tokenizers.fromTokenizerJson(Objects.requireNonNull(in).readAllBytes(), "llama2.json");
        }
        backend = open();
        runner = backend.load(
                spec,
                TestLayout.random(spec, 1),
                EngineLimits.runnerLimits(options(new Foresight(List.of(), 1, spec.vocabularySize())), spec));
        Dice dice = new Dice(7, "speculation");
        requests = new ArrayList<>();
        for (int i = 0; i < REQUESTS; i++) {
            requests.add(request(dice).withTag(i));
        }
        expected = serve(options(Drafter.none()).withKvBlocks(0)).completions();
    }

    @AfterAll
    void close() {
        runner.close();
        backend.close();
    }

    private Drafter foresight(double rate) {
        return new Foresight(expected, rate, spec.vocabularySize());
    }

    private EngineOptions options(Drafter drafter) {
        return EngineOptions.defaults()
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(ROWS)
                        .maxActiveRequests(2 * ROWS)
                        .drafter(drafter)
                        .build())
                .withBlockSize(blockSize)
                .withKvBlocks(40);
    }

    private GenerationRequest request(Dice dice) {
        int vocabulary = spec.vocabularySize();
        SamplingParams sampling = dice.coin()
                ? SamplingParams.greedy()
                : SamplingParams.random().withTemperature((float) dice.oneOf(0.5, 1, 1, 2));
        if (dice.coin()) {
            sampling = sampling.withTopK(dice.oneOf(0, 5, 40)).withTopP((float) dice.oneOf(0.5, 0.95, 1));
        }
        if (dice.chance(0.2)) {
            sampling = sampling.withMinP(0.05f);
        }
        if (dice.chance(0.3)) {
            sampling = sampling.withRepetitionPenalty(1.2f)
                    .withPresencePenalty(0.3f)
                    .withFrequencyPenalty(0.2f);
        }
        GenerationRequest request = GenerationRequest.of(TEXTS[dice.below(TEXTS.length)].repeat(blockSize / 4))
                .withMaxNewTokens(dice.between(1, 40))
                .withSampling(sampling.withLogprobs(dice.between(-1, 2)))
                .withSeed(dice.below(1000))
                .withIgnoreEndOfText(dice.coin());
        if (dice.chance(0.3)) {
            request = request.withStop("the ", "e");
        }
        if (dice.chance(0.3)) {
            request = request.withBadWords("and", "upon a").withMinTokens(dice.between(0, 1));
        }
        if (dice.chance(0.2)) {
            request = request.withAllowedTokens(dice.below(vocabulary), dice.below(vocabulary), dice.below(vocabulary));
        } else if (dice.chance(0.4)) {
            request = request.withGrammar(GRAMMARS[dice.below(GRAMMARS.length)]).withMaxNewTokens(dice.between(1, 60));
        }
        if (dice.chance(0.3)) {
            request = request.withLogitBias(Map.of(dice.below(vocabulary), 4f));
        }
        return dice.chance(0.2) ? request.withStopTokens(dice.below(vocabulary)) : request;
    }

    /** The completions of all requests, served at once. */
    private record Served(List<Completion> completions, EngineStats stats) {
        long total(Fact fact) {
            return stats.total(fact);
        }
    }

    private Served serve(EngineOptions options) {
        try (Engine engine = Engine.open(runner, Optional.of(tokenizer), options, Clock.system())) {
            List<TokenStream> streams = requests.stream().map(engine::submit).toList();
            List<Completion> completions =
                    streams.stream().map(TokenStream::completion).toList();
            return new Served(completions, engine.stats());
        }
    }

    private void assertExpected(List<Completion> seen) {
        for (int i = 0; i < REQUESTS; i++) {
            assertThat(seen.get(i).tokens())
                    .as("%s", requests.get(i))
                    .isEqualTo(expected.get(i).tokens());
            assertThat(seen.get(i).text()).isEqualTo(expected.get(i).text());
            assertThat(seen.get(i).finishReason()).isEqualTo(expected.get(i).finishReason());
            assertThat(seen.get(i).stopString()).isEqualTo(expected.get(i).stopString());
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.7, 1})
    void completions_are_equal_with_and_without_drafts(double rate) {
        Served served = serve(options(foresight(rate)));
        assertExpected(served.completions());
        long drafts = served.total(Fact.DRAFT_TOKENS);
        assertThat(drafts).isGreaterThan(REQUESTS / 2);
        assertThat(served.total(Fact.ACCEPTED_TOKENS)).isBetween((long) (rate * drafts / 3), drafts);
        assertThat(served.total(Fact.CACHED_TOKENS)).isPositive();
    }

    @Test
    void preempted_completions_are_equal_with_drafts() {
        Served served = serve(options(foresight(0.7)).withKvBlocks(fewBlocks));
        assertExpected(served.completions());
        assertThat(served.total(Fact.PREEMPTIONS)).isPositive();
        assertThat(served.total(Fact.DRAFT_TOKENS)).isPositive();
    }

    private static List<Drafter> builtIn() {
        return List.of(Drafter.ngram(8), Drafter.suffix(8, false), Drafter.suffix(8, true));
    }

    @ParameterizedTest
    @MethodSource("builtIn")
    void completions_are_equal_with_built_in_drafters(Drafter drafter) {
        Served served = serve(options(drafter));
        assertExpected(served.completions());
        assertThat(served.total(Fact.ACCEPTED_TOKENS)).isPositive();
    }

    /** Drafts nothing. */
    private record Silent(int maxTokens) implements Drafter {
        @Override
        public Drafts newDrafts(PolicyRequest request) {
            return (tokens, max, into) -> 0;
        }
    }

    @Test
    void text_that_a_grammar_fixes_is_drafted() {
        Served served = serve(options(new Silent(7)));
        assertExpected(served.completions());
        assertThat(served.total(Fact.ACCEPTED_TOKENS)).isGreaterThan(REQUESTS / 10);
        assertThat(served.total(Fact.DRAFT_TOKENS)).isGreaterThan(served.total(Fact.ACCEPTED_TOKENS));
    }

    @Test
    void requests_cover_all_outcomes() {
        assertThat(expected).extracting(Completion::finishReason).contains(FinishReason.LENGTH, FinishReason.STOP);
        assertThat(expected)
                .extracting(Completion::stopString)
                .contains(Optional.empty())
                .hasSizeGreaterThan(2);
    }

    @Test
    void chunked_prefill_changes_no_completion_with_drafts() {
        EngineOptions options = options(foresight(0.8));
        SchedulerOptions chunked = options.scheduler().toBuilder()
                .chunkedPrefill(true)
                .prefillMaxTokens(8)
                .step(StepPolicy.mixed())
                .build();
        assertExpected(serve(options.withScheduler(chunked)).completions());
    }
}
