package io.roseinfer.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.model.files.ModelFiles;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CallLimitsTest {
    private static final String PROMPT = "{\"prompt\":[1]}";
    private static final String CHAT = "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";

    private static GenerationRequest completion(CallLimits limits) {
        try (ModelFiles files = ModelFiles.openBuiltin("chat")) {
            ServedModel model = ServedModel.named("chat");
            return request(new CompletionReader(model, files.spec(), files.tokenizer(), limits), PROMPT);
        }
    }

    private static GenerationRequest chat(CallLimits limits) {
        try (ModelFiles files = ModelFiles.openBuiltin("chat")) {
            ServedModel model = ServedModel.named("chat").withChat(files.chat());
            ChatPrompts prompts = new ChatPrompts(model, files.tokenizer(), InstantSource.system());
            return request(new ChatReader(model, files.spec(), files.tokenizer(), limits, prompts), CHAT);
        }
    }

    private static GenerationRequest request(CompletionReader reader, String body) {
        return reader.read(Fields.parse(body.getBytes(StandardCharsets.UTF_8))).request();
    }

    private static CallLimits limits(String name) {
        return switch (name) {
            case "duration" -> CallLimits.NONE.withDuration(Optional.of(Duration.ofSeconds(7)));
            case "tokens" -> CallLimits.NONE.withTokens(100);
            default -> throw new AssertionError("say below whether completions and chats obey " + name);
        };
    }

    /** Completions have a default of tokens instead. */
    @ParameterizedTest
    @CsvSource({"duration, true, true", "tokens, false, true"})
    void limit_applies_to_calls(String name, boolean completions, boolean chats) {
        assertThat(completion(limits(name)).equals(completion(CallLimits.NONE))).isNotEqualTo(completions);
        assertThat(chat(limits(name)).equals(chat(CallLimits.NONE))).isNotEqualTo(chats);
    }

    @Test
    void every_limit_is_known_to_this_test() {
        assertThat(Stream.of(CallLimits.class.getRecordComponents()).map(RecordComponent::getName))
                .allSatisfy(name -> assertThat(limits(name)).isNotEqualTo(CallLimits.NONE));
    }
}
