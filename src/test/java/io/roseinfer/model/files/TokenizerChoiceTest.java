package io.roseinfer.model.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.base.StrictJson;
import io.roseinfer.model.family.ModelDirectory;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.Tokenizers;
import io.roseinfer.tokenizer.chat.Conversation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The vocabulary used for the prompts of a model directory. */
class TokenizerChoiceTest {
    @TempDir
    private Path directory;

    private ModelFiles open(int vocabulary) throws IOException {
        return ModelFiles.openDirectory(
                "m",
                ModelDirectory.at(directory, "\"vocab_size\":" + vocabulary).write());
    }

    @ParameterizedTest
    @ValueSource(ints = {50257, 50264, 50272, 50304})
    void directory_without_tokenizer_but_with_gpt2s_vocabulary_size_uses_gpt2s_with_a_warning(int vocabulary)
            throws IOException {
        try (ModelFiles files = open(vocabulary)) {
            assertThat(files.tokenizer()).containsSame(Tokenizers.gpt2());
            assertThat(files.warnings())
                    .singleElement()
                    .asString()
                    .contains(
                            directory.toString(), "using the built-in GPT-2 vocabulary", "vocab_size is " + vocabulary);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {300, 50256, 50258, 50305, 51200})
    void directory_without_tokenizer_and_with_another_vocabulary_size_has_none(int vocabulary) throws IOException {
        try (ModelFiles files = open(vocabulary)) {
            assertThat(files.tokenizer()).isEmpty();
            assertThat(files.warnings()).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "tokenizer_config.json, '{\"tokenizer_class\":\"T5Tokenizer\"}'",
        "tokenizer_config.json, {}",
        "vocab.txt, [UNK]",
        "spiece.model, x",
        "tokenizer.model, x",
        "sentencepiece.bpe.model, x",
        "special_tokens_map.json, {}",
        "added_tokens.json, '{\"<s>\":50257}'",
        "tekken.json, {}",
        "qwen.tiktoken, x"
    })
    void unsupported_tokenizer_files_are_named(String name, String content) throws IOException {
        Files.writeString(directory.resolve(name), content);
        try (ModelFiles files = open(50257)) {
            assertThat(files.tokenizer()).isEmpty();
            assertThat(files.warnings()).singleElement().asString().contains(name, "no tokenizer", "tokenizer.json");
        }
    }

    @Test
    void tokenizer_of_the_directory_is_used() throws IOException {
        writeBytes("\"<|endoftext|>\":256");
        try (ModelFiles files = open(257)) {
            assertThat(files.tokenizer().map(Tokenizer::vocabularySize)).hasValue(257);
            assertThat(files.warnings()).isEmpty();
        }
    }

    @Test
    void tokenizer_with_more_tokens_than_the_model_is_used_with_a_warning() throws IOException {
        writeBytes("\"<|endoftext|>\":256,\"[PAD]\":257");
        try (ModelFiles files = open(257)) {
            assertThat(files.tokenizer()).isPresent();
            assertThat(files.warnings()).singleElement().asString().contains("257", "rejected");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "no json", "{\"model\":{\"type\":\"WordPiece\"}}"})
    void rejected_tokenizer_is_a_warning_with_the_reason(String json) throws IOException {
        Files.writeString(directory.resolve("tokenizer.json"), json);
        try (ModelFiles files = open(300)) {
            assertThat(files.tokenizer()).isEmpty();
            assertThat(files.warnings())
                    .singleElement()
                    .asString()
                    .contains("tokenizer.json: ", "has no tokenizer and takes token ids only");
        }
    }

    @ParameterizedTest
    @CsvSource({"tokenizer.json, {}", "tokenizer.model, x", "tekken.json, {}"})
    void tokenizer_that_cannot_be_read_is_an_error_unless_token_ids_suffice(String name, String content)
            throws IOException {
        ModelDirectory.at(directory, "\"vocab_size\":300").write();
        Files.writeString(directory.resolve(name), content);
        assertThatThrownBy(() -> ModelFiles.openDirectory("m", directory, false, path -> true))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining(name)
                .hasMessageContaining("takes token ids only")
                .hasMessageContaining("models.md");
    }

    @Test
    void tokenizer_that_is_not_json_is_an_error_without_advice_on_token_ids() throws IOException {
        ModelDirectory.at(directory, "\"vocab_size\":300").write();
        Files.writeString(directory.resolve("tokenizer.json"), "{");
        assertThatThrownBy(() -> ModelFiles.openDirectory("m", directory, false, path -> true))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("tokenizer.json: not valid JSON")
                .hasMessageEndingWith("; download the file again");
    }

    @Test
    void rejected_tokenizer_in_a_damaged_directory_is_an_error() throws IOException {
        ModelDirectory.at(directory, "\"vocab_size\":300").write();
        Files.writeString(directory.resolve("tokenizer.json"), "{");
        assertThatThrownBy(() -> ModelFiles.openDirectory("m", directory, true, path -> false))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("tokenizer.json: not valid JSON");
    }

    @Test
    void end_of_text_of_the_tokenizer_is_added_to_that_of_the_model() throws IOException {
        writeBytes("\"<|endoftext|>\":256,\"<end>\":257");
        Files.writeString(directory.resolve("tokenizer_config.json"), "{\"eos_token\":\"<end>\"}");
        Files.writeString(directory.resolve("generation_config.json"), "{\"eos_token_id\":[3,256]}");
        try (ModelFiles files = open(258)) {
            assertThat(files.spec().endOfText()).containsExactly(3, 256, 257);
        }
        try (ModelFiles files = open(257)) {
            assertThat(files.spec().endOfText())
                    .as("the model cannot produce 257")
                    .containsExactly(3, 256);
        }
    }

    /** The files of microsoft/DialoGPT: transformers renders a b, the end, c d, the end, e f, the end. */
    @Test
    void default_special_tokens_of_the_class_reach_the_chat_template() throws IOException {
        writeBytes("\"<|endoftext|>\":256");
        Files.writeString(
                directory.resolve("tokenizer_config.json"),
                "{\"model_max_length\": 1024, \"chat_template\":"
                        + " \"{% for message in messages %}{{ message.content }}{{ eos_token }}{% endfor %}\"}");
        String messages = "[{\"role\":\"user\",\"content\":\"ab\"},{\"role\":\"assistant\",\"content\":\"cd\"},"
                + "{\"role\":\"user\",\"content\":\"ef\"}]";
        try (ModelFiles files = open(257)) {
            String prompt = files.chat()
                    .orElseThrow()
                    .render(Conversation.of(
                            StrictJson.parse(messages.getBytes(StandardCharsets.UTF_8)), LocalDateTime.MIN));
            assertThat(files.tokenizer().orElseThrow().encode(prompt))
                    .containsExactly('a', 'b', 256, 'c', 'd', 256, 'e', 'f', 256);
        }
    }

    private void writeBytes(String moreTokens) throws IOException {
        StringBuilder vocabulary = new StringBuilder("{");
        for (int id = 0; id < 256; id++) {
            vocabulary.append('"').append(symbol(id)).append("\":").append(id).append(',');
        }
        Files.writeString(
                directory.resolve("vocab.json"), vocabulary.append(moreTokens).append('}'));
        Files.writeString(directory.resolve("merges.txt"), "#version: 0.2\n");
    }

    /** GPT-2's character for a byte: itself if printable, else one from U+0100 on. */
    private static String symbol(int value) {
        int others = 0;
        for (int i = 0; i <= value; i++) {
            boolean printable = (i > 32 && i < 127) || (i > 160 && i != 173);
            if (i == value) {
                String plain = i == '"' || i == '\\' ? "\\" + (char) i : String.valueOf((char) i);
                return printable ? plain : String.valueOf((char) (256 + others));
            }
            others += printable ? 0 : 1;
        }
        throw new IllegalArgumentException();
    }
}
