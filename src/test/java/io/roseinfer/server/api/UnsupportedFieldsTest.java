package io.roseinfer.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.model.files.ModelFiles;
import java.time.InstantSource;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class UnsupportedFieldsTest {
    @Test
    void every_field_with_a_default_is_unsupported_by_an_endpoint() {
        try (ModelFiles files = ModelFiles.openBuiltin("chat")) {
            ServedModel model = ServedModel.named("chat").withChat(files.chat());
            ChatPrompts prompts = new ChatPrompts(model, files.tokenizer(), InstantSource.system());
            Stream<CompletionReader> readers = Stream.of(
                    new CompletionReader(model, files.spec(), files.tokenizer(), CallLimits.NONE),
                    new ChatReader(model, files.spec(), files.tokenizer(), CallLimits.NONE, prompts),
                    new ResponsesReader(model, files.spec(), files.tokenizer(), CallLimits.NONE, prompts));
            assertThat(CompletionReader.DEFAULTS.keySet())
                    .isSubsetOf(readers.flatMap(reader -> reader.unsupported().stream())
                            .toList());
        }
    }
}
