package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.grammar.Grammar;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.tokenizer.Tokenizer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests with grammars, on a simulated device that samples hashes. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GrammarRequestTest {
    private static final Grammar PERSON = Grammar.jsonSchema("""
            {"type": "object", "additionalProperties": false, "required": ["name", "age"],
             "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer", "minimum": 0, "maximum": 150}}}
            """);
    private static final Pattern PERSON_TEXT =
            Pattern.compile("\\{\\s*\"name\"\\s*:\\s*\".*\"\\s*,\\s*\"age\"\\s*:\\s*\\d{1,3}\\s*}", Pattern.DOTALL);

    private ModelFiles files;
    private Tokenizer tokenizer;

    @BeforeAll
    void open() {
        files = ModelFiles.openBuiltin("tiny");
        tokenizer = files.tokenizer().orElseThrow();
    }

    @AfterAll
    void close() {
        files.close();
    }

    private SimRunner runner(EngineOptions options, int inFlight) {
        SimOptions sim = SimOptions.defaults().withMaxInFlight(inFlight);
        return new SimRunner(files.spec(), EngineLimits.runnerLimits(options, files.spec()), sim);
    }

    private Engine engine(EngineOptions options, int inFlight) {
        return Engine.open(runner(options, inFlight), Optional.of(tokenizer), options, Clock.system());
    }

    private Engine engine(int inFlight) {
        return engine(EngineOptions.defaults().withBlockSize(4).withKvBlocks(4000), inFlight);
    }

    private static String text(Completion completion) {
        return completion.text().orElseThrow();
    }

    private static GenerationRequest request(int prompt, Grammar grammar) {
        return GenerationRequest.ofTokens(1, prompt).withMaxNewTokens(200).withGrammar(grammar);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void completions_that_end_by_themselves_are_texts_of_the_grammar(int inFlight) {
        try (Engine engine = engine(inFlight)) {
            List<TokenStream> streams = IntStream.range(0, 60)
                    .mapToObj(prompt -> engine.submit(
                            prompt % 3 == 0
                                    ? GenerationRequest.ofTokens(1, prompt).withMaxNewTokens(50)
                                    : request(prompt, PERSON)))
                    .toList();
            int stopped = 0;
            for (int prompt = 0; prompt < streams.size(); prompt++) {
                Completion completion = streams.get(prompt).completion();
                if (prompt % 3 != 0 && completion.finishReason() == FinishReason.STOP) {
                    stopped++;
                    assertThat(text(completion)).matches(PERSON_TEXT);
                }
            }
            assertThat(stopped).isGreaterThan(20);
        }
    }

    /** Only tokens are forbidden, as in vLLM. */
    @Test
    void other_tokens_than_those_of_a_bad_word_may_spell_it() {
        int[] word = tokenizer.encode("then");
        try (Engine engine = engine(1)) {
            for (int prompt = 0; prompt < 20; prompt++) {
                Completion completion = engine.generate(
                        request(prompt, Grammar.choice(List.of("then"))).withBadWords("then"));
                assertThat(text(completion)).isEqualTo("then");
                assertThat(completion.ids()).isNotEqualTo(word);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void completion_is_the_same_in_any_batch_and_after_preemptions(int inFlight) {
        EngineOptions small = EngineOptions.defaults().withBlockSize(4).withKvBlocks(64);
        try (Engine alone = engine(1);
                Engine crowded = engine(small, inFlight)) {
            List<TokenStream> streams = IntStream.range(0, 40)
                    .mapToObj(prompt -> crowded.submit(request(prompt, PERSON)))
                    .toList();
            for (int prompt = 0; prompt < streams.size(); prompt++) {
                Completion expected = alone.generate(request(prompt, PERSON));
                Completion seen = streams.get(prompt).completion();
                assertThat(seen.ids()).isEqualTo(expected.ids());
                assertThat(seen.finishReason()).isEqualTo(expected.finishReason());
            }
            assertThat(crowded.stats().total(Fact.PREEMPTIONS)).isPositive();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void drafts_of_fixed_text_change_no_completion(int inFlight) {
        Grammar fixed = Grammar.regex("the (cat|dog) sat on the (mat|hat), and then (so did|slept) the (cat|dog)!");
        SchedulerOptions drafting =
                SchedulerOptions.builder().drafter(Drafter.suffix(6, false)).build();
        EngineOptions small =
                EngineOptions.defaults().withBlockSize(4).withKvBlocks(64).withScheduler(drafting);
        try (Engine alone = engine(1);
                Engine crowded = engine(small, inFlight)) {
            List<GenerationRequest> requests = IntStream.range(0, 60)
                    .mapToObj(prompt -> prompt % 3 == 0
                            ? GenerationRequest.ofTokens(1, prompt).withMaxNewTokens(50)
                            : request(prompt, prompt % 3 == 1 ? PERSON : fixed))
                    .toList();
            List<TokenStream> streams = requests.stream().map(crowded::submit).toList();
            for (int i = 0; i < streams.size(); i++) {
                Completion expected = alone.generate(requests.get(i));
                Completion seen = streams.get(i).completion();
                assertThat(seen.ids()).as("request %d", i).isEqualTo(expected.ids());
                assertThat(seen.finishReason()).isEqualTo(expected.finishReason());
            }
            assertThat(crowded.stats().total(Fact.PREEMPTIONS)).isPositive();
            assertThat(crowded.stats().total(Fact.ACCEPTED_TOKENS)).isPositive();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void passes_run_ahead_of_masks(boolean mixed) {
        EngineOptions options = EngineOptions.defaults().withBlockSize(4).withKvBlocks(4000);
        AtomicInteger inFlight = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Observers counting = Observers.ofSteps((event, step) -> {
            if (event == StepEvent.SUBMITTED) {
                most.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
            } else if (event == StepEvent.AWAITED) {
                inFlight.decrementAndGet();
            }
        });
        try (Engine engine =
                Engine.open(runner(options, 2), Optional.of(tokenizer), options, Clock.system(), counting)) {
            GenerationRequest restricted = request(5, Grammar.regex("[a-z]{60}"));
            GenerationRequest free = GenerationRequest.ofTokens(1, 2).withMaxNewTokens(200);
            List<TokenStream> streams = Stream.of(restricted, mixed ? free : restricted)
                    .map(engine::submit)
                    .toList();
            streams.forEach(TokenStream::completion);
        }
        assertThat(most).hasValue(2);
    }

    @Test
    void replicas_share_grammars() {
        EngineOptions options = EngineOptions.defaults().withBlockSize(4).withKvBlocks(1000);
        List<SimRunner> runners = List.of(runner(options, 2), runner(options, 1));
        try (Engine engine = Engine.open(
                runners, Optional.of(tokenizer), options, RoutingPolicy.pull(), Clock.system(), Observers.NONE)) {
            List<TokenStream> streams = IntStream.range(0, 40)
                    .mapToObj(prompt -> engine.submit(request(prompt, Grammar.choice(List.of("yes", "no", "perhaps")))))
                    .toList();
            assertThat(streams)
                    .extracting(stream -> text(stream.completion()))
                    .isSubsetOf("yes", "no", "perhaps")
                    .contains("perhaps", "no");
        }
    }

    @Test
    void requests_of_a_failed_replica_start_again_with_their_grammar() {
        EngineOptions options = EngineOptions.defaults().withBlockSize(4).withKvBlocks(1000);
        SimOptions lost = SimOptions.defaults().withMaxInFlight(2).withOnStep(step -> {
            throw new DeviceFailure("the device is gone", false);
        });
        SimRunner losing = new SimRunner(files.spec(), EngineLimits.runnerLimits(options, files.spec()), lost);
        try (Engine engine = Engine.open(
                        List.of(losing, runner(options, 2)),
                        Optional.of(tokenizer),
                        options,
                        RoutingPolicy.roundRobin(),
                        Clock.system(),
                        Observers.NONE);
                Engine alone = engine(1)) {
            List<TokenStream> streams = IntStream.range(0, 20)
                    .mapToObj(prompt -> engine.submit(request(prompt, PERSON)))
                    .toList();
            for (int prompt = 0; prompt < streams.size(); prompt++) {
                assertThat(text(streams.get(prompt).completion()))
                        .isEqualTo(text(alone.generate(request(prompt, PERSON))));
            }
            assertThat(engine.failure(0)).isPresent();
        }
    }

    /** Requests end at any time, in a pool that is too small for all; what is left is complete. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void cancellations_and_deadlines_leave_the_others_complete(int inFlight) {
        EngineOptions small = EngineOptions.defaults().withBlockSize(4).withKvBlocks(80);
        Random random = new Random(inFlight);
        try (Engine engine = engine(small, inFlight)) {
            List<TokenStream> kept = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                GenerationRequest request = request(i % 50, Grammar.regex("[a-z]{" + (1 + random.nextInt(30)) + "}"));
                switch (random.nextInt(3)) {
                    case 0 -> kept.add(engine.submit(request));
                    case 1 -> engine.submit(request).close();
                    default -> {
                        TokenStream unused =
                                engine.submit(request.withTimeout(Duration.ofNanos(1 + random.nextInt(3_000_000))));
                    }
                }
            }
            assertThat(kept).allSatisfy(stream -> {
                assertThat(stream.completion().finishReason()).isEqualTo(FinishReason.STOP);
                assertThat(text(stream.completion())).matches("[a-z]{1,30}");
            });
        }
    }

    @Test
    void text_that_nothing_may_follow_ends_without_an_end_of_text_token() {
        try (Engine engine = engine(1)) {
            Completion completion = engine.generate(
                    request(5, Grammar.regex("abc{3}d")).withMinTokens(20).withIgnoreEndOfText(true));
            assertThat(text(completion)).isEqualTo("abcccd");
            assertThat(completion.finishReason()).isEqualTo(FinishReason.STOP);
            assertThat(completion.tokens()).hasSizeLessThan(7);
        }
    }

    @Test
    void end_tokens_are_sampled_only_where_the_text_may_end() {
        int[] one = tokenizer.encode("1");
        try (Engine engine = engine(2)) {
            GenerationRequest stopping = request(5, Grammar.regex("[01]{5}x?y")).withStopTokens(one[0]);
            Completion completion = engine.generate(stopping);
            assertThat(completion.finishReason()).isEqualTo(FinishReason.STOP);
            assertThat(text(completion)).matches("0{5}x?y");
        }
    }

    @Test
    void maximum_of_tokens_cuts_the_text() {
        try (Engine engine = engine(2)) {
            Completion completion = engine.generate(request(5, PERSON).withMaxNewTokens(3));
            assertThat(completion.finishReason()).isEqualTo(FinishReason.LENGTH);
            assertThat(text(completion)).startsWith("{");
        }
    }

    @Test
    void allowed_tokens_and_grammar_both_hold() {
        int[] digits = IntStream.range(0, 10)
                .map(digit -> tokenizer.encode(String.valueOf(digit))[0])
                .toArray();
        try (Engine engine = engine(2)) {
            GenerationRequest request = request(5, Grammar.regex("[0-9a-z]{8}")).withAllowedTokens(digits);
            assertThat(text(engine.generate(request))).matches("[0-9]{8}");
            assertThatThrownBy(() ->
                            engine.generate(request(5, Grammar.regex("[a-z]+")).withAllowedTokens(digits)))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("no token is allowed");
        }
    }

    @Test
    void grammar_begins_after_a_trigger() {
        try (Engine engine = engine(2)) {
            Grammar grammar = Grammar.choice(List.of("yes", "no")).after("</think>");
            int[] letters = tokenizer.encode("</think>yesnoab");
            Completion completion = engine.generate(
                    request(5, grammar).withAllowedTokens(letters).withMaxNewTokens(400));
            if (completion.finishReason() == FinishReason.STOP) {
                assertThat(text(completion)).matches("(?s).*</think>(yes|no)");
            }
            assertThat(text(completion)).isNotEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void cancellation_ends_a_constrained_request(int inFlight) {
        try (Engine engine = engine(inFlight)) {
            Grammar endless = Grammar.regex("(ab)*c");
            GenerationRequest request =
                    request(1, endless).withLogitBias(bias("c", -100)).withMaxNewTokens(60);
            TokenStream stream = engine.submit(request);
            assertThat(stream.next().text()).isNotEmpty();
            stream.close();
            assertThat(engine.generate(request).finishReason()).isIn(FinishReason.LENGTH, FinishReason.STOP);
        }
    }

    private Map<Integer, Float> bias(String text, float value) {
        return Map.of(Arrays.stream(tokenizer.encode(text)).findFirst().orElseThrow(), value);
    }

    @Test
    void grammar_that_is_too_large_fails_with_the_limit() {
        try (Engine engine = engine(1)) {
            assertThatThrownBy(() ->
                            engine.generate(request(1, Grammar.gbnf("root ::= (\"a\" root \"b\" | \"c\"){300000}"))))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("at most 200000");
        }
    }

    @Test
    void model_without_a_tokenizer_rejects_grammars() {
        try (Engine engine = Models.engine(Models.options(), SimOptions.defaults())) {
            assertThatThrownBy(() -> engine.submit(request(1, PERSON)))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("no tokenizer");
        }
    }
}
