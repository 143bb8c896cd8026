package io.roseinfer.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.RecipeTrial;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Follows {@code adding-a-request-field.md} with a copy of {@code server.api}: the line on the page is all that a field
 * needs there.
 */
class NewRequestFieldTest {
    private static final Path API = Path.of("src/main/java/io/roseinfer/server/api");
    private static final String REQUEST =
            ".withPriority(fields.integer(\"priority\", 0, Integer.MIN_VALUE, Integer.MAX_VALUE));\n";

    /** Reads a body by both endpoints, and returns the timeout and the ignored fields, or the error. */
    private static final String TRIAL = """
            package io.roseinfer.server.api;

            import io.roseinfer.model.files.ModelFiles;
            import java.nio.charset.StandardCharsets;
            import java.time.InstantSource;
            import java.util.Optional;
            import java.util.function.UnaryOperator;

            public final class Trial implements UnaryOperator<String> {
                public String apply(String field) {
                    try (ModelFiles files = ModelFiles.openBuiltin("chat")) {
                        ServedModel model = ServedModel.named("chat");
                        ChatPrompts prompts = new ChatPrompts(files.chat(), files.tokenizer(), InstantSource.system());
                        CompletionReader completions =
                                new CompletionReader(model, files.spec(), files.tokenizer(), Optional.empty());
                        CompletionReader chats =
                                new ChatReader(model, files.spec(), files.tokenizer(), Optional.empty(), 64, prompts);
                        String chat = "{\\"messages\\":[{\\"role\\":\\"user\\",\\"content\\":\\"Hi\\"}]," + field + "}";
                        return read(completions, "{\\"prompt\\":[1]," + field + "}") + ", " + read(chats, chat);
                    }
                }

                private static String read(CompletionReader reader, String body) {
                    try {
                        CompletionCall call = reader.read(Fields.parse(body.getBytes(StandardCharsets.UTF_8)));
                        return call.request().options().timeout().orElseThrow() + " " + call.ignored();
                    } catch (ApiError refused) {
                        return refused.message();
                    }
                }
            }
            """;

    @TempDir
    private Path folder;

    private RecipeTrial trial;

    @BeforeEach
    void followPage() throws IOException {
        trial = new RecipeTrial(folder);
        trial.addPackage(API);
        trial.add("Trial.java", TRIAL);
        trial.edit(
                "CompletionReader.java",
                REQUEST,
                REQUEST + RecipeTrial.blocks("adding-a-request-field.md").getFirst());
    }

    @AfterEach
    void close() throws IOException {
        trial.close();
    }

    private String read(String field) throws ReflectiveOperationException {
        assertThat(trial.compile()).isEmpty();
        @SuppressWarnings("unchecked")
        UnaryOperator<String> made = (UnaryOperator<String>) trial.make("io.roseinfer.server.api.Trial");
        return made.apply(field);
    }

    @Test
    void both_endpoints_read_the_field_and_list_another_as_ignored() throws Exception {
        assertThat(read("\"timeout_ms\":250,\"other\":1")).isEqualTo("PT0.25S [other], PT0.25S [other]");
    }

    @Test
    void null_is_absent() throws Exception {
        assertThat(read("\"timeout_ms\":null")).isEqualTo("PT1M [], PT1M []");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "0 | timeout_ms is 0; it must be 1 to 3600000",
                "3600001 | timeout_ms is 3600001; it must be 1 to 3600000",
                "\"1\" | timeout_ms is the string \"1\"; it must be an integer",
                "[1] | timeout_ms is a list; it must be an integer"
            })
    void both_endpoints_refuse_another_value_by_name(String value, String message) throws Exception {
        assertThat(read("\"timeout_ms\":" + value)).isEqualTo(message + ", " + message);
    }
}
