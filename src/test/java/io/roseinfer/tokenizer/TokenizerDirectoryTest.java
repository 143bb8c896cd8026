package io.roseinfer.tokenizer;

import static io.roseinfer.tokenizer.SampleTokenizer.FREE;
import static io.roseinfer.tokenizer.SampleTokenizer.TRAINED;
import static io.roseinfer.tokenizer.TrainedVocabulary.added;
import static io.roseinfer.tokenizer.TrainedVocabulary.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which files of a model directory are used, and for what. */
class TokenizerDirectoryTest {
    private static final String TEXT = "the quick brown fox";

    @TempDir
    Path directory;

    private void write(String name, String content) throws IOException {
        Files.writeString(directory.resolve(name), content);
    }

    private void writeVocabularyAndMerges() throws IOException {
        var ids = new TreeMap<>(TRAINED.ids());
        ids.put("<|endoftext|>", FREE);
        write("vocab.json", json(ids));
        write("merges.txt", TRAINED.mergesTxt());
    }

    private Tokenizer load() {
        return Tokenizers.fromDirectory(directory).orElseThrow();
    }

    @Test
    void directory_without_tokenizer_files_has_none() throws IOException {
        write("config.json", "{}");
        write("tokenizer_config.json", "{}");
        assertThat(Tokenizers.fromDirectory(directory)).isEmpty();
        assertThat(Tokenizers.fromDirectory(directory.resolve("absent"))).isEmpty();
    }

    @Test
    void dangling_link_to_a_tokenizer_is_rejected_despite_other_files() throws IOException {
        writeVocabularyAndMerges();
        Files.createSymbolicLink(directory.resolve("tokenizer.json"), Path.of("gone"));
        assertThatThrownBy(this::load)
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("tokenizer.json")
                .hasMessageContaining("cannot be read");
    }

    /** Roles of the attribute special_tokens_map in transformers. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '§',
            value = {
                "{} § {bos_token=<|endoftext|>, eos_token=<|endoftext|>, unk_token=<|endoftext|>}",
                "{`eos_token`: null, `bos_token`: `a`} § {bos_token=a, unk_token=<|endoftext|>}",
                "{`tokenizer_class`: `PreTrainedTokenizerFast`, `pad_token`: `a`} § {pad_token=a}",
                "{`tokenizer_class`: `LlamaTokenizerFast`} § {bos_token=<s>, eos_token=</s>, unk_token=<unk>}",
                "{`tokenizer_class`: `LlamaTokenizer`, `eos_token`: {`content`: `a`}} § {bos_token=<s>, eos_token=a, unk_token=<unk>}",
                "{`tokenizer_class`: `GPTNeoXTokenizerFast`} § {bos_token=<|endoftext|>, eos_token=<|endoftext|>, pad_token=<|padding|>, unk_token=<|endoftext|>}",
                "{`tokenizer_class`: `Qwen2Tokenizer`, `bos_token`: null} § {eos_token=<|endoftext|>, pad_token=<|endoftext|>, unk_token=<|endoftext|>}",
                "{`tokenizer_class`: `X`, `image_token`: `a`, `extra_special_tokens`: {`b_token`: `b`}} § {b_token=b, image_token=a}"
            })
    void special_tokens_by_role_have_the_defaults_of_their_class(String config, String expected) throws IOException {
        write("tokenizer.json", json(TRAINED.tokenizerJson()));
        write("tokenizer_config.json", config.replace('`', '"'));
        assertThat(new TreeMap<>(load().specialTokens())).hasToString(expected);
    }

    @Test
    void special_tokens_map_overrides_a_configuration_without_added_tokens() throws IOException {
        write("tokenizer.json", json(TRAINED.tokenizerJson()));
        write("special_tokens_map.json", "{\"bos_token\": \"a\", \"pad_token\": {\"content\": \"b\"}}");
        String config = "{\"tokenizer_class\": \"X\", \"bos_token\": \"c\"";
        write("tokenizer_config.json", config + "}");
        assertThat(load().specialTokens()).isEqualTo(Map.of("bos_token", "a", "pad_token", "b"));
        write("tokenizer_config.json", config + ", \"added_tokens_decoder\": {}}");
        assertThat(load().specialTokens()).isEqualTo(Map.of("bos_token", "c"));
    }

    @Test
    void tokenizer_json_takes_precedence_over_vocabulary_and_merges() throws IOException {
        writeVocabularyAndMerges();
        var root = TRAINED.tokenizerJson();
        root.put("added_tokens", List.of(added(FREE, "<s>")));
        write("tokenizer.json", json(root));
        assertThat(load().encode("<s>")).containsExactly(FREE);
    }

    @Test
    void end_of_text_in_a_vocabulary_file_is_special() throws IOException {
        writeVocabularyAndMerges();
        assertThat(load().endOfText()).hasValue(FREE);
        assertThat(load().encode("a<|endoftext|>")).containsExactly('a', FREE);
        assertThat(load().encodeOrdinary("<|endoftext|>")).doesNotContain(FREE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"\n", "\r\n"})
    void line_ends_of_merges_txt_do_not_matter(String lineEnd) throws IOException {
        writeVocabularyAndMerges();
        write("merges.txt", TRAINED.mergesTxt().replace("\n", lineEnd));
        assertThat(load().encode(TEXT)).isEqualTo(SampleTokenizer.with().encode(TEXT));
    }

    @Test
    void merge_of_number_signs_is_a_merge_and_no_comment() throws IOException {
        var ids = new TreeMap<>(TRAINED.ids());
        ids.put("##", FREE);
        write("vocab.json", json(ids));
        write("merges.txt", "#version: 0.2\n# #\n");
        assertThat(load().encode("##")).containsExactly(FREE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"vocab.json", "merges.txt"})
    void one_of_the_two_files_is_rejected(String missing) throws IOException {
        writeVocabularyAndMerges();
        Files.delete(directory.resolve(missing));
        assertThatThrownBy(this::load).isInstanceOf(BadModel.class).hasMessageContaining(missing + " is missing");
    }

    @Test
    void bad_merge_is_rejected_with_its_line() throws IOException {
        writeVocabularyAndMerges();
        write("merges.txt", "#version: 0.2\nt h e\n");
        assertThatThrownBy(this::load).isInstanceOf(BadModel.class).hasMessageContaining("merges.txt line 2");
    }

    @Test
    void merges_that_are_not_text_are_rejected() throws IOException {
        writeVocabularyAndMerges();
        Files.write(directory.resolve("merges.txt"), new byte[] {(byte) 0xff, 'a'});
        assertThatThrownBy(this::load).isInstanceOf(BadModel.class).hasMessageContaining("not valid UTF-8");
    }

    @Test
    void directory_in_place_of_a_file_is_rejected() throws IOException {
        Files.createDirectory(directory.resolve("tokenizer.json"));
        assertThatThrownBy(this::load)
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("tokenizer.json cannot be read");
    }

    @Test
    void config_names_the_end_of_text_as_string_or_object() throws IOException {
        var root = TRAINED.tokenizerJson();
        root.put("added_tokens", List.of(added(FREE, "</s>", "special"), added(FREE + 1, "<|endoftext|>", "special")));
        write("tokenizer.json", json(root));
        assertThat(load().endOfText()).hasValue(FREE + 1);
        write("tokenizer_config.json", json(Map.of("eos_token", "</s>")));
        assertThat(load().endOfText()).hasValue(FREE);
        write("tokenizer_config.json", json(Map.of("eos_token", Map.of("content", "</s>"))));
        assertThat(load().endOfText()).hasValue(FREE);
        write("tokenizer_config.json", json(Map.of("eos_token", "new")));
        assertThat(load().endOfText()).hasValue(FREE + 2);
    }

    @Test
    void config_adds_tokens_to_a_vocabulary_file() throws IOException {
        writeVocabularyAndMerges();
        var mask = new TreeMap<>(added(0, "<mask>", "special", "lstrip"));
        write("tokenizer_config.json", json(Map.of("added_tokens_decoder", Map.of(FREE + 1, mask))));
        assertThat(load().encode("a  <mask>")).containsExactly('a', FREE + 1);
        assertThat(load().encodeOrdinary("<mask>")).doesNotContain(FREE + 1);
    }

    @Test
    void config_token_not_named_by_its_id_is_rejected() throws IOException {
        writeVocabularyAndMerges();
        write("tokenizer_config.json", json(Map.of("added_tokens_decoder", Map.of("one", added(0, "<s>")))));
        assertThatThrownBy(this::load).isInstanceOf(BadModel.class).hasMessageContaining("\"one\"");
    }

    @Test
    void config_asks_for_a_space_before_the_text() throws IOException {
        writeVocabularyAndMerges();
        write("tokenizer_config.json", json(Map.of("add_prefix_space", true)));
        assertThat(load().encode(TEXT)).isEqualTo(SampleTokenizer.with().encode(" " + TEXT));
    }

    @Test
    void add_bos_token_for_vocabulary_files_is_rejected() throws IOException {
        writeVocabularyAndMerges();
        write("tokenizer_config.json", json(Map.of("add_bos_token", true)));
        assertThatThrownBy(this::load).isInstanceOf(BadModel.class).hasMessageContaining("add_bos_token");
    }

    /** Llama's class adds the tokens of its settings around a text; other classes use tokenizer.json. */
    @ParameterizedTest
    @CsvSource({
        "LlamaTokenizer, true, , 1 97",
        "LlamaTokenizerFast, true, true, 1 97 2",
        "LlamaTokenizer, false, true, 97 2",
        "LlamaTokenizer, false, , 97",
        "LlamaTokenizer, , true, 1 97 2",
        "LlamaTokenizer, , , 2 97",
        "PreTrainedTokenizerFast, true, true, 2 97",
        "TokenizersBackend, false, , 2 97"
    })
    void tokens_around_a_prompt_come_from_the_config_for_llamas_classes_else_from_tokenizer_json(
            String tokenizerClass, Boolean begin, Boolean end, String expected) throws IOException {
        var root = TRAINED.tokenizerJson();
        root.put("added_tokens", List.of(added(1, "\u0101", "special"), added(2, "\u0102", "special")));
        root.put(
                "post_processor",
                Map.of(
                        "type",
                        "TemplateProcessing",
                        "single",
                        List.of(
                                Map.of("SpecialToken", Map.of("id", "x", "type_id", 0)),
                                Map.of("Sequence", Map.of("id", "A", "type_id", 0))),
                        "special_tokens",
                        Map.of("x", Map.of("id", "x", "ids", List.of(2), "tokens", List.of("x")))));
        write("tokenizer.json", json(root));
        var config = new TreeMap<String, Object>(Map.of("bos_token", "\u0101", "eos_token", "\u0102"));
        config.put("tokenizer_class", tokenizerClass);
        config.put("add_bos_token", begin);
        config.put("add_eos_token", end);
        write("tokenizer_config.json", json(config));
        assertThat(IntStream.of(load().encodePrompt("a")).mapToObj(Integer::toString))
                .containsExactly(expected.split(" "));
        assertThat(load().encode("a")).containsExactly('a');
    }

    @Test
    void llamas_class_adds_a_beginning_of_text_by_default() throws IOException {
        var root = TRAINED.tokenizerJson();
        root.put("added_tokens", List.of(added(FREE, "<s>", "special")));
        root.remove("post_processor");
        write("tokenizer.json", json(root));
        write("tokenizer_config.json", json(Map.of("tokenizer_class", "LlamaTokenizer")));
        assertThat(load().encodePrompt("a")).containsExactly(FREE, 'a');
    }

    @Test
    void gpt2s_class_is_ignored_for_other_models() throws IOException {
        var root = TRAINED.tokenizerJson();
        var digits = Map.of("type", "Digits", "individual_digits", true);
        root.put(
                "pre_tokenizer",
                Map.of("type", "Sequence", "pretokenizers", List.of(digits, TrainedVocabulary.byteLevel(false))));
        write("tokenizer.json", json(root));
        write("tokenizer_config.json", json(Map.of("tokenizer_class", "GPT2Tokenizer", "add_prefix_space", true)));
        Tokenizer other = Tokenizers.fromDirectory(directory, false).orElseThrow();
        assertThat(other.encode("a")).containsExactly('a');
        assertThat(other.warnings()).isEmpty();
        assertThat(load().encode("a")).isEqualTo(SampleTokenizer.with().encode(" a"));
        assertThat(load().warnings()).hasSize(2).anyMatch(line -> line.contains("differently than GPT-2"));
    }

    @Test
    void vocabulary_and_merges_alone_are_rejected_for_other_models_than_gpt2() throws IOException {
        writeVocabularyAndMerges();
        assertThatThrownBy(() -> Tokenizers.fromDirectory(directory, false))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("tokenizer.json is missing");
    }

    @ParameterizedTest
    @ValueSource(strings = {"normalizer", "pre_tokenizer", "ignore_merges"})
    void gpt2_class_rejects_a_file_for_another_pipeline(String part) throws IOException {
        var root = TRAINED.tokenizerJson();
        switch (part) {
            case "normalizer" -> root.put("normalizer", Map.of("type", "NFC"));
            case "pre_tokenizer" -> {
                root.put("pre_tokenizer", Map.of("type", "Metaspace", "replacement", "_"));
                root.put("decoder", Map.of("type", "Metaspace", "replacement", "_"));
            }
            default -> {
                var model = TRAINED.model();
                model.put(part, true);
                root.put("model", model);
            }
        }
        write("tokenizer.json", json(root));
        assertThatThrownBy(this::load).isInstanceOf(BadModel.class).hasMessageContaining(part, "GPT2Tokenizer");
        assertThat(Tokenizers.fromDirectory(directory, false)).isPresent();
    }

    @Test
    void legacy_files_add_tokens_and_mark_special_ones() throws IOException {
        writeVocabularyAndMerges();
        write("added_tokens.json", json(Map.of("<s>", FREE + 1, "żź", FREE + 2)));
        write(
                "special_tokens_map.json",
                json(Map.of("bos_token", Map.of("content", "<s>"), "additional_special_tokens", List.of("<t>"))));
        assertThat(load().encode("<s>żź")).containsExactly(FREE + 1, FREE + 2);
        assertThat(load().encodeOrdinary("<s>żź")).doesNotContain(FREE + 1).endsWith(FREE + 2);
    }

    @ParameterizedTest
    @CsvSource({
        ", , true, false",
        ", true, false, true",
        "GPT2Tokenizer, , true, false",
        "GPT2Tokenizer, false, true, false",
        "GPT2Tokenizer, true, false, true",
        "GPT2TokenizerFast, true, false, true",
        "GPT2TokenizerFast, , true, false",
        "PreTrainedTokenizerFast, false, true, true",
        "PreTrainedTokenizerFast, true, false, false",
        "TokenizersBackend, , true, true",
        "TokenizersBackend, true, false, false"
    })
    void prefix_space_comes_from_the_config_for_gpt2s_classes_else_from_tokenizer_json(
            String tokenizerClass, Boolean inConfig, boolean inTokenizerJson, boolean expected) throws IOException {
        var root = TRAINED.tokenizerJson();
        root.put("pre_tokenizer", TrainedVocabulary.byteLevel(inTokenizerJson));
        write("tokenizer.json", json(root));
        var config = new TreeMap<String, Object>();
        config.put("tokenizer_class", tokenizerClass);
        config.put("add_prefix_space", inConfig);
        write("tokenizer_config.json", json(config));
        assertThat(load().encode(TEXT)).isEqualTo(SampleTokenizer.with().encode(expected ? " " + TEXT : TEXT));
        boolean overrides = expected != inTokenizerJson;
        assertThat(load().warnings()).hasSize(overrides ? 1 : 0).allMatch(line -> line.contains("add_prefix_space"));
    }

    @Test
    void added_token_gets_the_id_of_hugging_face_with_a_warning() throws IOException {
        var root = TRAINED.tokenizerJson();
        root.put("added_tokens", List.of(added(FREE + 7, "<s>"), added(FREE + 1, "<|endoftext|>", "special")));
        write("tokenizer.json", json(root));
        assertThat(load().encode("<|endoftext|><s>")).containsExactly(FREE, FREE + 1);
        assertThat(load().warnings())
                .hasSize(2)
                .anyMatch(line -> line.contains("\"<s>\" has id " + (FREE + 7) + " in its file; " + (FREE + 1)));
    }

    @Test
    void added_token_missing_from_the_config_s_list_is_ignored_with_a_warning() throws IOException {
        var root = TRAINED.tokenizerJson();
        root.put("added_tokens", List.of(added(FREE, "<s>")));
        write("tokenizer.json", json(root));
        write("tokenizer_config.json", json(Map.of("added_tokens_decoder", Map.of())));
        assertThat(load().encode("<s>")).isEqualTo(SampleTokenizer.with().encode("<s>"));
        assertThat(load().warnings()).singleElement().asString().contains("\"<s>\"", "added_tokens_decoder");
    }

    @Test
    void tokens_of_two_files_under_one_id_are_rejected() throws IOException {
        writeVocabularyAndMerges();
        var root = TRAINED.tokenizerJson();
        root.put("added_tokens", List.of(added(FREE, "<s>")));
        write("tokenizer.json", json(root));
        write("added_tokens.json", json(Map.of("<t>", FREE)));
        assertThatThrownBy(this::load).isInstanceOf(BadModel.class).hasMessageContaining("have the same id " + FREE);
    }
}
