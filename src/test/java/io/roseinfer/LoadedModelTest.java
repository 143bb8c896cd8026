package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.ChatMessage;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.engine.Tools;
import io.roseinfer.model.family.ModelDirectory;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("process")
@Timeout(120)
class LoadedModelTest {
    private static final EngineOptions OPTIONS = EngineOptions.defaults();
    private static final GenerationRequest LONG =
            GenerationRequest.of("Once upon a time").withMaxNewTokens(300).withIgnoreEndOfText(true);

    private static LoadedModel load(String model, Settings.Device device) {
        return Roseinfer.load(Settings.of(model).withDevice(device));
    }

    @Test
    void second_engine_and_warm_up_are_rejected_until_the_first_closes() {
        try (LoadedModel model = load("builtin:tiny", Settings.Device.SIM)) {
            Engine first = model.serve(OPTIONS);
            assertThatThrownBy(() -> model.warmUp()).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> model.serve(OPTIONS))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("already serves an engine");
            first.close();
            try (Engine second = model.serve(OPTIONS)) {
                assertThat(second.generate(LONG.withMaxNewTokens(2)).ids()).hasSize(2);
            }
        }
    }

    @Test
    void closed_model_rejects_calls() {
        LoadedModel model = load("builtin:tiny", Settings.Device.SIM);
        model.close();
        model.close();
        assertThatThrownBy(() -> model.serve(OPTIONS))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is closed");
    }

    private static LoadedModel load(EngineOptions options) {
        return Roseinfer.load(
                Settings.of("builtin:tiny").withDevice(Settings.Device.SIM).withEngine(options));
    }

    @Test
    void serve_without_options_uses_those_of_loading() {
        EngineOptions options = EngineOptions.defaults().withKvBlocks(64).withStepHistory(2);
        try (LoadedModel model = load(options);
                Engine engine = model.serve()) {
            assertThat(engine.stats().kv().blocks()).isEqualTo(64);
            assertThat(engine.generate(LONG.withMaxNewTokens(5)).ids()).hasSize(5);
            assertThat(engine.steps()).hasSizeLessThanOrEqualTo(2);
        }
    }

    @Test
    void block_size_different_from_the_loaded_one_is_rejected() {
        try (LoadedModel model = load(OPTIONS)) {
            assertThatThrownBy(() -> model.serve(OPTIONS.withBlockSize(64)))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("blockSize is 64; the model was loaded with KV blocks of 16 tokens");
        }
    }

    private static void assertTooLarge(LoadedModel model, SchedulerOptions asked, String problem) {
        assertThatThrownBy(() -> model.serve(OPTIONS.withScheduler(asked)))
                .isInstanceOf(BadInput.class)
                .hasMessage(problem + "; load it with Settings.withEngine(options), or a custom runner with"
                        + " EngineLimits.runnerLimits(options, spec)");
    }

    @Test
    void options_larger_than_the_loaded_ones_are_rejected_with_both_values() {
        SchedulerOptions chunked = SchedulerOptions.builder()
                .chunkedPrefill(true)
                .prefillMaxTokens(64)
                .build();
        try (LoadedModel model = load(OPTIONS.withScheduler(chunked))) {
            assertTooLarge(
                    model,
                    SchedulerOptions.builder().maxBatchSize(32).build(),
                    "maxBatchSize is 32; the model was loaded for 8");
            assertTooLarge(
                    model,
                    SchedulerOptions.builder().prefillMaxBatchSize(16).build(),
                    "prefillMaxBatchSize is 16; the model was loaded for 8");
            assertTooLarge(
                    model,
                    chunked.toBuilder().prefillMaxTokens(128).build(),
                    "a step of these options has up to 136 tokens; the model was loaded for 72");
        }
    }

    @Test
    void conversation_is_limited_by_the_pool_of_its_engine() {
        try (LoadedModel model = load("builtin:chat", Settings.Device.SIM);
                Engine engine = model.serve(OPTIONS.withKvBlocks(5))) {
            GenerationRequest request = model.chatRequest(List.of(ChatMessage.user("Hi")));
            assertThat(engine.generate(request).finishReason()).isNotNull();
        }
    }

    /**
     * Runs an action on another thread in the middle of a warm-up, which waits until that thread is blocked or done.
     */
    private static boolean endsDuringWarmUp(LoadedModel model, Runnable action) throws InterruptedException {
        Thread other = Thread.ofPlatform().unstarted(action);
        AtomicBoolean ended = new AtomicBoolean();
        AtomicInteger readings = new AtomicInteger();
        model.warmUp(() -> {
            int reading = readings.getAndIncrement();
            if (reading == 1) {
                other.start();
            }
            while (reading >= 1 && other.isAlive() && other.getState() != Thread.State.BLOCKED) {
                Thread.onSpinWait();
            }
            ended.compareAndSet(false, reading >= 1 && !other.isAlive());
            return reading;
        });
        other.join();
        return ended.get();
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void serving_and_closing_wait_for_a_warm_up() throws InterruptedException {
        try (LoadedModel model = load(OPTIONS)) {
            AtomicReference<Completion> served = new AtomicReference<>();
            boolean early = endsDuringWarmUp(model, () -> {
                try (Engine engine = model.serve()) {
                    served.set(engine.generate(LONG.withMaxNewTokens(2)));
                }
            });
            assertThat(early).as("served during the warm-up").isFalse();
            assertThat(Objects.requireNonNull(served.get()).ids()).hasSize(2);
            assertThat(endsDuringWarmUp(model, model::close))
                    .as("closed during the warm-up")
                    .isFalse();
        }
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void engine_being_closed_does_not_block_threads_that_open_the_next() {
        try (LoadedModel model = load(OPTIONS)) {
            Engine engine = model.serve().onClose(() -> {
                Thread other = Thread.ofPlatform().start(() -> model.serve().close());
                join(other);
            });
            engine.close();
            assertThat(engine.isClosed()).isTrue();
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void actions_after_closing_run_in_order_even_if_one_throws() {
        List<String> ran = new ArrayList<>();
        try (LoadedModel model = load(OPTIONS)) {
            Engine engine = model.serve()
                    .onClose(() -> ran.add("first"))
                    .onClose(() -> {
                        ran.add("second");
                        throw new IllegalStateException("planted");
                    })
                    .onClose(() -> ran.add("third"));
            assertThatThrownBy(engine::close).hasMessage("planted");
            engine.close();
            assertThat(ran).containsExactly("first", "second", "third");
        }
    }

    @Test
    void closing_a_model_between_two_tokens_closes_the_engine_first() {
        for (int i = 0; i < 20; i++) {
            LoadedModel model = load("builtin:tiny", Settings.Device.CPU);
            Engine engine = model.serve(OPTIONS);
            TokenStream stream = engine.submit(LONG);
            assertThat(stream.next()).isNotNull();
            model.close();
            assertThat(engine.isClosed()).isTrue();
            assertThat(stream.completion().finishReason()).isEqualTo(FinishReason.CANCELLED);
        }
    }

    @Test
    void conversation_is_limited_by_a_small_pool() {
        Settings settings = Settings.of("builtin:chat")
                .withDevice(Settings.Device.SIM)
                .withEngine(EngineOptions.defaults().withKvBlocks(10));
        try (LoadedModel model = Roseinfer.load(settings);
                Engine engine = model.serve(settings.engine())) {
            GenerationRequest request = model.chatRequest(List.of(ChatMessage.user("Hi")));
            assertThat(engine.maxRequestTokens()).isEqualTo(161);
            assertThat(engine.generate(request.withIgnoreEndOfText(true))
                            .timeline()
                            .tokenNanos())
                    .hasSize(request.maxNewTokens())
                    .hasSizeBetween(100, 160);
        }
    }

    @Test
    void engine_makes_the_requests_of_its_model() {
        List<ChatMessage> messages = List.of(ChatMessage.user("Hi"));
        try (LoadedModel model = load("builtin:chat", Settings.Device.SIM)) {
            try (Engine engine = model.serve(OPTIONS)) {
                assertThat(engine.chatRequest(messages)).isEqualTo(model.chatRequest(messages));
            }
            try (Engine engine = Engine.open(model.runner(), model.tokenizer(), OPTIONS, Clock.system())) {
                assertThatThrownBy(() -> engine.chatRequest(messages))
                        .isInstanceOf(BadInput.class)
                        .hasMessageContaining("without a chat template");
            }
        }
    }

    @Test
    void prompt_contains_the_date_that_is_passed_in(@TempDir Path directory) throws IOException {
        ModelDirectory.at(directory, "\"n_layer\":1,\"vocab_size\":50257,\"n_positions\":64")
                .write();
        Files.writeString(directory.resolve("chat_template.jinja"), "{{ strftime_now('%Y') }}");
        InstantSource time = InstantSource.fixed(Instant.parse("1999-07-01T00:00:00Z"));
        try (LoadedModel model = load(directory.toString(), Settings.Device.SIM)) {
            GenerationRequest request = model.chatPrompt(List.of(ChatMessage.user("Hi")), Tools.NONE, time)
                    .request();
            assertThat(request.prompt())
                    .isEqualTo(new Prompt.Tokens(model.tokenizer().orElseThrow().encode("1999")));
        }
    }

    @Test
    void role_unknown_to_the_template_is_rejected_as_over_http() {
        List<ChatMessage> messages = List.of(ChatMessage.user("Hi"), new ChatMessage("wizard", "Hi"));
        try (LoadedModel model = load("builtin:chat", Settings.Device.SIM)) {
            assertThatThrownBy(() -> model.chatRequest(messages))
                    .isInstanceOf(BadInput.class)
                    .hasMessage("messages[1].role is \"wizard\"; it must be system, developer, user, assistant, tool,"
                            + " function or another role in the model's chat template");
        }
    }

    @Test
    void conversation_without_messages_is_rejected() {
        try (LoadedModel model = load("builtin:chat", Settings.Device.SIM)) {
            assertThatThrownBy(() -> model.chatRequest(List.of()))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("at least one message");
        }
    }

    @Test
    void conversation_gets_a_response() {
        try (LoadedModel model = load("builtin:chat", Settings.Device.CPU)) {
            model.warmUp();
            try (Engine engine = model.serve(OPTIONS)) {
                GenerationRequest request =
                        model.chatRequest(List.of(ChatMessage.user("What is the capital of France?")));
                assertThat(request.sampling())
                        .isEqualTo(model.samplingDefaults().params());
                assertThat(engine.generate(request.withSampling(SamplingParams.greedy()))
                                .text())
                        .contains("It is Paris.");
            }
        }
    }

    @Test
    void model_without_a_chat_template_rejects_conversations() {
        try (LoadedModel model = load("random:gpt2", Settings.Device.SIM)) {
            assertThatThrownBy(() -> model.chatRequest(List.of(ChatMessage.user("Hello"))))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("no usable chat template");
        }
    }
}
