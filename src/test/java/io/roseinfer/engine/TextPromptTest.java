package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.tokenizer.Detokenizer;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.Tokenizers;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests prompts and completions with a tokenizer that prepends a token and strips a leading space, like SentencePiece
 * vocabularies.
 */
class TextPromptTest {
    private static final String PROMPT = "the fox";
    private static final Tokenizer LLAMA2 = llama2();
    private static final ModelSpec SPEC =
            SpecBuilder.named("words").vocabulary(1000).build();

    private static Tokenizer llama2() {
        try (InputStream in = TextPromptTest.class.getResourceAsStream("/tokenizer/llama2.json")) {
            return Tokenizers.fromTokenizerJson(in.readAllBytes(), "llama2.json");
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static Completion complete(GenerationRequest request) {
        EngineOptions options = EngineOptions.defaults().withKvBlocks(64);
        SimRunner runner = new SimRunner(SPEC, EngineLimits.runnerLimits(options, SPEC), SimOptions.defaults());
        try (Engine engine = Engine.open(runner, Optional.of(LLAMA2), options, Clock.system());
                TokenStream stream = engine.submit(request)) {
            return stream.completion();
        }
    }

    private static String text(int... ids) {
        Detokenizer detokenizer = LLAMA2.detokenizer(true);
        StringBuilder text = new StringBuilder();
        IntStream.of(ids).forEach(id -> detokenizer.push(id, text));
        detokenizer.flush(text);
        return text.toString();
    }

    @Test
    void text_prompt_begins_with_the_token_added_by_its_tokenizer() {
        Completion completion = complete(GenerationRequest.of(PROMPT).withMaxNewTokens(1));
        assertThat(completion.promptIds())
                .isEqualTo(LLAMA2.encodePrompt(PROMPT))
                .startsWith(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a stop string that does not come"})
    void prompt_and_completion_concatenate_to_the_text_of_all_ids(String stop) {
        for (int seed = 0; seed < 40; seed++) {
            GenerationRequest request = GenerationRequest.of(PROMPT)
                    .withMaxNewTokens(6)
                    .withSeed(seed)
                    .withIgnoreEndOfText(true);
            Completion completion = complete(stop.isEmpty() ? request : request.withStop(stop));
            int[] ids = IntStream.concat(
                            IntStream.of(completion.promptIds()),
                            completion.tokens().stream().mapToInt(GeneratedToken::id))
                    .toArray();
            assertThat(PROMPT + completion.text().orElseThrow())
                    .as("seed %d", seed)
                    .isEqualTo(text(ids));
        }
    }
}
