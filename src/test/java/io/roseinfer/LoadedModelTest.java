package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.FinishReason;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class LoadedModelTest {
    private static final EngineOptions OPTIONS = EngineOptions.defaults();
    private static final GenerationRequest LONG =
            GenerationRequest.of("Once upon a time").withMaxNewTokens(300).withIgnoreEndOfText(true);

    private static LoadedModel load(String model, Settings.Device device) {
        return Roseinfer.load(Settings.of(model).withDevice(device));
    }

    @Test
    void a_second_engine_and_a_warm_up_are_refused_until_the_first_is_closed() {
        try (LoadedModel model = load("builtin:tiny", Settings.Device.SIM)) {
            Engine first = model.serve(OPTIONS);
            assertThatThrownBy(() -> model.warmUp()).isInstanceOf(BadInput.class);
            assertThatThrownBy(() -> model.serve(OPTIONS))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("serves an engine already");
            first.close();
            try (Engine second = model.serve(OPTIONS)) {
                assertThat(second.generate(LONG.withMaxNewTokens(2)).ids()).hasSize(2);
            }
        }
    }

    @Test
    void a_closed_model_serves_nothing() {
        LoadedModel model = load("builtin:tiny", Settings.Device.SIM);
        model.close();
        model.close();
        assertThatThrownBy(() -> model.serve(OPTIONS))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("is closed");
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
    void a_conversation_asks_for_no_more_than_a_small_pool_holds() {
        Settings settings = Settings.of("builtin:chat")
                .withDevice(Settings.Device.SIM)
                .withEngine(EngineOptions.defaults().withKvBlocks(10));
        try (LoadedModel model = Roseinfer.load(settings);
                Engine engine = model.serve(settings.engine())) {
            GenerationRequest request = model.chatRequest(List.of(ChatMessage.user("Hi")));
            assertThat(engine.longest()).isEqualTo(161);
            assertThat(engine.generate(request.withIgnoreEndOfText(true))
                            .timeline()
                            .tokenNanos())
                    .hasSize(request.maxNewTokens())
                    .hasSizeBetween(100, 160);
        }
    }

    @Test
    void a_conversation_without_messages_is_refused() {
        try (LoadedModel model = load("builtin:chat", Settings.Device.SIM)) {
            assertThatThrownBy(() -> model.chatRequest(List.of()))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("at least one message");
        }
    }

    @Test
    void a_conversation_is_answered() {
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
    void a_model_without_a_chat_template_takes_no_conversation() {
        try (LoadedModel model = load("random:gpt2", Settings.Device.SIM)) {
            assertThatThrownBy(() -> model.chatRequest(List.of(ChatMessage.user("Hello"))))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("no chat template");
        }
    }
}
