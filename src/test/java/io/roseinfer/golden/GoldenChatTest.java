package io.roseinfer.golden;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.cpu.CpuBackend;
import io.roseinfer.backend.cpu.CpuOptions;
import io.roseinfer.backend.cpu.KernelChoice;
import io.roseinfer.base.Clock;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GeneratedToken;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.tokenizer.chat.Conversation;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** {@code builtin:chat} against Hugging Face's template, tokenizer and greedy generation. */
@Tag("parity")
class GoldenChatTest {
    private static final Golden GOLDEN = Golden.read("builtin-chat");

    private static String text(int prompt) {
        return GOLDEN.prompt(prompt).get("text").asString();
    }

    private static Conversation conversation(int prompt) {
        JsonNode fields = GOLDEN.prompt(prompt);
        return new Conversation(
                fields.get("messages"), Optional.ofNullable(fields.get("tools")), true, Map.of(), LocalDateTime.MIN);
    }

    /** The answers to all conversations, computed together. */
    private static List<Completion> answers(KernelChoice kernels) {
        CpuOptions cpu = CpuOptions.defaults()
                .withThreads(2)
                .withPrecision(Precision.FP32)
                .withKernels(kernels);
        EngineOptions options = EngineOptions.defaults();
        try (ModelFiles files = GOLDEN.open();
                CpuBackend backend = new CpuBackend(cpu);
                ModelRunner runner =
                        backend.load(files.spec(), files.weights(), EngineLimits.runnerLimits(options, files.spec()));
                Engine engine = Engine.open(runner, files.tokenizer(), options, Clock.system())) {
            List<TokenStream> streams = IntStream.range(0, GOLDEN.prompts())
                    .mapToObj(p -> engine.submit(GenerationRequest.of(text(p))
                            .withMaxNewTokens(200)
                            .withSampling(SamplingParams.greedy().withLogprobs(1))))
                    .toList();
            return streams.stream().map(TokenStream::completion).toList();
        }
    }

    @Test
    void conversations_are_written_as_hugging_face_writes_them() {
        try (ModelFiles files = GOLDEN.open()) {
            for (int p = 0; p < GOLDEN.prompts(); p++) {
                assertThat(files.chat().orElseThrow().render(conversation(p))).isEqualTo(text(p));
                assertThat(files.tokenizer().orElseThrow().encodePrompt(text(p)))
                        .isEqualTo(GOLDEN.ids(p));
            }
        }
    }

    @Test
    void greedy_answers_equal_hugging_face_to_the_end_of_the_turn() {
        List<Completion> answers = answers(KernelChoice.VECTOR);
        for (int p = 0; p < answers.size(); p++) {
            Completion answer = answers.get(p);
            assertThat(answer.promptIds()).isEqualTo(GOLDEN.ids(p));
            assertThat(answer.ids()).as(text(p)).isEqualTo(GOLDEN.greedy(p));
            assertThat(answer.text())
                    .contains(GOLDEN.prompt(p).get("greedy_text").asString());
            assertThat(answer.finishReason()).isEqualTo(FinishReason.STOP);
            JsonNode logprobs = GOLDEN.prompt(p).get("greedy_logprobs");
            for (int i = 0; i < logprobs.size(); i++) {
                assertThat((double) answer.tokens().get(i).logprob())
                        .as("log-probability of token %d of prompt %d", i, p)
                        .isCloseTo(logprobs.get(i).doubleValue(), within(2e-4));
            }
        }
    }

    @Test
    void scalar_kernels_give_the_bits_of_vector_kernels() {
        assertThat(logprobs(answers(KernelChoice.SCALAR))).isEqualTo(logprobs(answers(KernelChoice.VECTOR)));
    }

    private static List<List<Float>> logprobs(List<Completion> answers) {
        return answers.stream()
                .map(answer ->
                        answer.tokens().stream().map(GeneratedToken::logprob).toList())
                .toList();
    }

    @Test
    void end_of_a_turn_is_the_tokenizers_end_of_text() {
        try (ModelFiles files = GOLDEN.open()) {
            int end = files.tokenizer().orElseThrow().endOfText().orElseThrow();
            assertThat(files.tokenizer().orElseThrow().encode("<|im_end|>")).containsExactly(end);
            assertThat(files.spec().endOfText()).containsExactlyInAnyOrder(end, 0);
            assertThat(files.warnings()).isEmpty();
        }
    }
}
