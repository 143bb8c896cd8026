package io.roseinfer.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.RecipeTrial;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Follows {@code add-a-request-field.md} with a copy of {@code server.api}: the line on the page is all that a field needs there. */
@Tag("process")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class NewRequestFieldTest {
    private static final Path API = Path.of("src/main/java/io/roseinfer/server/api");
    private static final String REQUEST =
            ".withPriority(fields.integer(\"priority\", 0, Integer.MIN_VALUE, Integer.MAX_VALUE));\n";

    /** Reads a body by both endpoints: the priority and the ignored fields, or the error. */
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
                        ServedModel model = ServedModel.named("chat").withChat(files.chat());
                        ChatPrompts prompts = new ChatPrompts(model, files.tokenizer(), InstantSource.system());
                        CompletionReader completions =
                                new CompletionReader(model, files.spec(), files.tokenizer(), CallLimits.NONE);
                        CompletionReader chats =
                                new ChatReader(model, files.spec(), files.tokenizer(), CallLimits.NONE, prompts);
                        String chat = "{\\"messages\\":[{\\"role\\":\\"user\\",\\"content\\":\\"Hi\\"}]," + field + "}";
                        return read(completions, "{\\"prompt\\":[1]," + field + "}") + ", " + read(chats, chat);
                    }
                }

                private static String read(CompletionReader reader, String body) {
                    try {
                        CompletionCall call = reader.read(Fields.parse(body.getBytes(StandardCharsets.UTF_8)));
                        return call.request().options().priority() + " " + call.ignored();
                    } catch (ApiError refused) {
                        return refused.message();
                    }
                }
            }
            """;

    private UnaryOperator<String> reader = UnaryOperator.identity();

    @BeforeAll
    void followPage(@TempDir Path folder) throws IOException, ReflectiveOperationException {
        RecipeTrial trial = new RecipeTrial(folder);
        trial.addPackage(API);
        trial.add("Trial.java", TRIAL);
        trial.edit(
                "CompletionReader.java",
                REQUEST,
                REQUEST + RecipeTrial.blocks("how-to/add-a-request-field.md").getFirst());
        assertThat(trial.compile()).isEmpty();
        @SuppressWarnings("unchecked")
        UnaryOperator<String> made = (UnaryOperator<String>) trial.make("io.roseinfer.server.api.Trial");
        reader = made;
    }

    @Test
    void both_endpoints_read_the_field_and_list_another_as_ignored() {
        assertThat(reader.apply("\"tier\":2,\"other\":1")).isEqualTo("2000 [other], 2000 [other]");
    }

    @Test
    void null_is_absent() {
        assertThat(reader.apply("\"tier\":null,\"priority\":7")).isEqualTo("7 [], 7 []");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "-1 | tier is -1; it must be 0 to 3",
                "4 | tier is 4; it must be 0 to 3",
                "\"1\" | tier is the string \"1\"; it must be an integer",
                "[1] | tier is a list; it must be an integer"
            })
    void both_endpoints_reject_other_values_by_name(String value, String message) {
        assertThat(reader.apply("\"tier\":" + value)).isEqualTo(message + ", " + message);
    }
}
