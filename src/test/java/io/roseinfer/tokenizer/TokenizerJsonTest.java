package io.roseinfer.tokenizer;

import static io.roseinfer.tokenizer.SampleTokenizer.FREE;
import static io.roseinfer.tokenizer.SampleTokenizer.TRAINED;
import static io.roseinfer.tokenizer.TrainedVocabulary.added;
import static io.roseinfer.tokenizer.TrainedVocabulary.byteLevel;
import static io.roseinfer.tokenizer.TrainedVocabulary.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Supported {@code tokenizer.json} files, and the errors for others. */
class TokenizerJsonTest {
    private static final String TEXT = "the quick brown fox, 日本 don't  jump";

    private static void assertRefused(String json, String... named) {
        var message = assertThatThrownBy(() -> SampleTokenizer.of(json))
                .isInstanceOf(BadModel.class)
                .message()
                .startsWith("tokenizer.json")
                .doesNotContain("\n");
        for (String name : named) {
            message.contains(name);
        }
    }

    /** The sample file with one top-level field changed. */
    private static String with(String field, Object value) {
        var root = TRAINED.tokenizerJson();
        root.put(field, value);
        return json(root);
    }

    /** The sample file with one field of the model changed. */
    private static String withModel(String field, Object value) {
        var model = TRAINED.model();
        model.put(field, value);
        return with("model", model);
    }

    static Stream<Arguments> unsupported_components_are_rejected_by_name() {
        var split =
                Map.of("type", "Split", "pattern", Map.of("Regex", "\\s+"), "behavior", "Isolated", "invert", false);
        var stringSplit =
                Map.of("type", "Split", "pattern", Map.of("String", " "), "behavior", "Isolated", "invert", false);
        var template = Map.of("type", "TemplateProcessing", "single", List.of());
        return Stream.of(
                Arguments.of("normalizer", Map.of("type", "NFKC"), "NFKC"),
                Arguments.of("normalizer", replace(Map.of("Regex", " +")), "not a Regex"),
                Arguments.of("normalizer", replace(Map.of("String", "")), "is empty"),
                Arguments.of("normalizer", sequence("normalizers", Map.of("type", "Lowercase")), "Lowercase"),
                Arguments.of("pre_tokenizer", Map.of("type", "Whitespace"), "Whitespace"),
                Arguments.of("pre_tokenizer", sequence("pretokenizers", split, byteLevel(false)), "Split"),
                Arguments.of("pre_tokenizer", sequence("pretokenizers", stringSplit, byteLevel(false)), "Split"),
                Arguments.of(
                        "pre_tokenizer",
                        sequence("pretokenizers", Map.of("type", "Digits"), byteLevel(true)),
                        "Digits"),
                Arguments.of(
                        "pre_tokenizer",
                        sequence("pretokenizers", byteLevel(false), Map.of("type", "Digits")),
                        "Digits"),
                Arguments.of(
                        "pre_tokenizer",
                        sequence("pretokenizers", Map.of("type", "Digits"), split, byteLevel(false)),
                        "3 steps"),
                Arguments.of("pre_tokenizer", sequence("pretokenizers"), "ByteLevel is missing"),
                Arguments.of("pre_tokenizer", metaspace("▁▁", "always"), "one character"),
                Arguments.of("pre_tokenizer", metaspace("▁", "sometimes"), "always, first or never"),
                Arguments.of("pre_tokenizer", metaspace("▁", "first"), "ByteLevel is missing"),
                Arguments.of("post_processor", Map.of("type", "BertProcessing"), "BertProcessing"),
                Arguments.of("post_processor", template, "sequence A"),
                Arguments.of("post_processor", sequence("processors", byteLevel(true), template), "sequence A"),
                Arguments.of("post_processor", template("<s>", "A"), "not in special_tokens"),
                Arguments.of("post_processor", template("", "B"), "sequence A once"),
                Arguments.of("decoder", Map.of("type", "WordPiece"), "WordPiece"),
                Arguments.of(
                        "decoder", sequence("decoders", byteLevel(true), Map.of("type", "Strip")), "one ByteLevel"));
    }

    private static Map<String, Object> replace(Map<String, String> pattern) {
        return Map.of("type", "Replace", "pattern", pattern, "content", "_");
    }

    private static Map<String, Object> metaspace(String mark, String scheme) {
        return Map.of("type", "Metaspace", "replacement", mark, "prepend_scheme", scheme, "split", true);
    }

    private static Map<String, Object> template(String special, String sequence) {
        List<Object> single = new ArrayList<>();
        if (!special.isEmpty()) {
            single.add(Map.of("SpecialToken", Map.of("id", special, "type_id", 0)));
        }
        single.add(Map.of("Sequence", Map.of("id", sequence, "type_id", 0)));
        return Map.of("type", "TemplateProcessing", "single", single, "special_tokens", Map.of());
    }

    private static Map<String, Object> sequence(String children, Object... steps) {
        return Map.of("type", "Sequence", children, List.of(steps));
    }

    @ParameterizedTest
    @MethodSource
    void unsupported_components_are_rejected_by_name(String field, Object component, String named) {
        assertRefused(with(field, component), field, named);
    }

    @ParameterizedTest
    @ValueSource(strings = {"pre_tokenizer", "model"})
    void missing_component_is_rejected_by_name(String field) {
        var root = TRAINED.tokenizerJson();
        root.remove(field);
        assertRefused(json(root), field, "missing");
    }

    static Stream<Arguments> unsupported_model_options_are_rejected_by_name() {
        return Stream.of(
                Arguments.of("type", "WordPiece"),
                Arguments.of("dropout", 0.1),
                Arguments.of("dropout", "often"),
                Arguments.of("continuing_subword_prefix", "##"),
                Arguments.of("end_of_word_suffix", "</w>"),
                Arguments.of("ignore_merges", "yes"),
                Arguments.of("vocab", List.of("a", "b")),
                Arguments.of("merges", "a b"));
    }

    @ParameterizedTest
    @MethodSource
    void unsupported_model_options_are_rejected_by_name(String field, Object value) {
        assertRefused(withModel(field, value), "model." + field);
    }

    @Test
    void options_without_effect_are_accepted() {
        var model = TRAINED.model();
        model.remove("type");
        model.put("unk_token", "<|endoftext|>");
        model.put("dropout", 0.0);
        model.put("end_of_word_suffix", "");
        model.put("fuse_unk", true);
        model.put("ignore_merges", false);
        var root = TRAINED.tokenizerJson();
        root.put("model", model);
        root.put("truncation", Map.of("max_length", 3));
        root.put("normalizer", sequence("normalizers"));
        root.put("pre_tokenizer", sequence("pretokenizers", byteLevel(false)));
        root.put("something_new", 1);
        assertThat(SampleTokenizer.of(json(root)).encode(TEXT))
                .isEqualTo(SampleTokenizer.with().encode(TEXT));
    }

    @Test
    void merges_as_strings_and_as_pairs_give_the_same_ids() {
        List<String> lines = new ArrayList<>(List.of("#version: 0.2"));
        TRAINED.merges().forEach(pair -> lines.add(String.join(" ", pair)));
        assertThat(SampleTokenizer.of(withModel("merges", lines)).encode(TEXT))
                .isEqualTo(SampleTokenizer.with().encode(TEXT));
    }

    static Stream<Arguments> malformed_merges_are_rejected_with_the_reason() {
        return Stream.of(
                Arguments.of("a", "expected two tokens"),
                Arguments.of("a b c", "expected two tokens"),
                Arguments.of(List.of("a"), "expected 2"),
                Arguments.of(List.of("a", "b", "c"), "expected 2"),
                Arguments.of(List.of("a", 1), "expected a string"),
                Arguments.of(7, "expected a string"),
                Arguments.of("x 日", "the token \"x日\""),
                Arguments.of(List.of("日", "x"), "the token \"日x\""));
    }

    @ParameterizedTest
    @MethodSource
    void malformed_merges_are_rejected_with_the_reason(Object merge, String complaint) {
        assertRefused(withModel("merges", List.of(TRAINED.merges().getFirst(), merge)), "model.merges[1]", complaint);
    }

    @Test
    void merge_whose_result_is_unknown_is_rejected() {
        assertRefused(withModel("merges", List.of(List.of("!", "\""))), "model.merges[0]", "the token \"!\"\"");
    }

    static Stream<Arguments> malformed_ids_are_rejected_with_the_reason() {
        return Stream.of(
                Arguments.of(-1, "is -1"),
                Arguments.of(1L << 31, "expected an integer"),
                Arguments.of(Integer.MAX_VALUE, "token ids are 0 to "),
                Arguments.of(1.5, "expected an integer"),
                Arguments.of("3", "expected an integer"),
                Arguments.of(3, "have the same id 3"));
    }

    @ParameterizedTest
    @MethodSource
    void malformed_ids_are_rejected_with_the_reason(Object id, String complaint) {
        var ids = new TreeMap<>(TRAINED.ids());
        ids.put("extra", id);
        assertRefused(withModel("vocab", ids), complaint);
    }

    @Test
    void unused_id_is_accepted_and_decodes_to_an_empty_string() {
        var ids = new TreeMap<>(TRAINED.ids());
        ids.put("extra", FREE + 5);
        Tokenizer tokenizer = SampleTokenizer.of(withModel("vocab", ids));
        assertThat(tokenizer.vocabularySize()).isEqualTo(FREE + 6);
        assertThat(tokenizer.vocabulary().contains(FREE + 4)).isFalse();
        assertThat(tokenizer.bytes(FREE + 4)).isEmpty();
        assertThat(tokenizer.decode(new int[] {FREE + 4, FREE + 5})).isEqualTo("extra");
        assertThat(tokenizer.decode(new int[] {0, 1, 2, 3, 4})).isEqualTo("\0\1\2\3\4");
        assertThat(tokenizer.encode(TEXT)).isEqualTo(SampleTokenizer.with().encode(TEXT));
    }

    @Test
    void byte_missing_from_the_vocabulary_is_dropped_with_a_warning() {
        Tokenizer tokenizer = SampleTokenizer.of(withoutBytes("ÿ", "Ń"));
        assertThat(tokenizer.warnings()).singleElement().asString().contains("[AD]", "nothing");
        assertThat(tokenizer.encode("a\u00adb")).containsExactly('a', 0xc2, 'b');
    }

    @Test
    void vocabulary_that_lacks_most_bytes_is_rejected() {
        String[] most = TRAINED.tokens().subList(0, 130).toArray(String[]::new);
        assertRefused(withoutBytes(most), "no token for 130 of the 256 bytes");
    }

    @Test
    void missing_unknown_token_is_rejected_if_a_byte_needs_it() {
        assertRefused(
                withoutBytes("Ń").replace("\"model\":{", "\"model\":{\"unk_token\":\"<none>\","),
                "unk_token",
                "<none>");
    }

    /** The sample file without merges and without these symbols. */
    private static String withoutBytes(String... symbols) {
        var ids = new TreeMap<>(TRAINED.ids());
        ids.keySet().removeAll(List.of(symbols));
        var model = TRAINED.model();
        model.put("vocab", ids);
        model.put("merges", List.of());
        return with("model", model);
    }

    @Test
    void ignore_merges_encodes_a_word_as_its_token() {
        var ids = new TreeMap<>(TRAINED.ids());
        ids.put("quixotic", FREE);
        ids.put("Ġ日本", FREE + 1);
        var model = TRAINED.model();
        model.put("vocab", ids);
        assertThat(SampleTokenizer.of(with("model", model)).encode("quixotic")).doesNotContain(FREE);
        model.put("ignore_merges", true);
        Tokenizer tokenizer = SampleTokenizer.of(with("model", model));
        assertThat(tokenizer.encode("quixotic x")).startsWith(FREE).hasSize(3);
        assertThat(tokenizer.encode("quixotics")).doesNotContain(FREE);
    }

    static Stream<Arguments> malformed_added_tokens_are_rejected_with_the_reason() {
        return Stream.of(
                Arguments.of(List.of(added(3, "<s>")), "have the same id 3"),
                Arguments.of(List.of(added(FREE, "a")), "in the vocabulary it has 97"),
                Arguments.of(List.of(added(FREE, "<s>"), added(FREE + 1, "<s>")), "is listed twice"),
                Arguments.of(List.of(added(FREE, "<s>"), added(FREE, "<t>")), "have the same id"),
                Arguments.of(List.of(added(-1, "<s>")), "added_tokens[0].id is -1"),
                Arguments.of(List.of(Map.of("id", FREE)), "added_tokens[0].content is missing"),
                Arguments.of(List.of(Map.of("content", "<s>")), "added_tokens[0].id is missing"),
                Arguments.of(List.of(Map.of("id", FREE, "content", "<s>", "lstrip", 1)), "added_tokens[0].lstrip is 1"),
                Arguments.of(List.of("<s>"), "added_tokens[0] is \"<s>\", expected an object"),
                Arguments.of("none", "added_tokens is \"none\", expected an array"));
    }

    @ParameterizedTest
    @MethodSource
    void malformed_added_tokens_are_rejected_with_the_reason(Object tokens, String complaint) {
        assertRefused(with("added_tokens", tokens), complaint);
    }

    @Test
    void unpaired_surrogate_in_a_token_is_rejected() {
        assertRefused(with("added_tokens", List.of(added(FREE, "@"))).replace("\"@\"", "\"\\ud800\""));
        assertRefused(json(TRAINED.tokenizerJson()).replaceFirst("\"vocab\":\\{", "\"vocab\":{\"\\\\udfff\":9999,"));
    }

    @Test
    void longest_of_the_added_tokens_at_a_position_is_used() {
        Tokenizer tokenizer = SampleTokenizer.with(
                added(FREE, "<a", "special"), added(FREE + 1, "<a><b>", "special"), added(FREE + 2, "<a>", "special"));
        assertThat(tokenizer.encode("<a><b><a><a")).containsExactly(FREE + 1, FREE + 2, FREE);
        assertThat(tokenizer.encode("<a><b")).startsWith(FREE + 2);
    }

    @Test
    void added_token_takes_precedence_over_merges() {
        int letter = TRAINED.tokens().indexOf("o");
        Tokenizer tokenizer = SampleTokenizer.with(added(FREE, "qox"));
        assertThat(tokenizer.encode("xqoxo")).containsExactly('x', FREE, letter);
    }

    @Test
    void added_token_that_merges_also_produce_keeps_its_bytes() {
        Tokenizer tokenizer = SampleTokenizer.with(added(' ', "Ġ"));
        assertThat(tokenizer.decode(tokenizer.encode("a b  c"))).isEqualTo("a b  c");
        assertThat(tokenizer.bytes(' ')).containsExactly(' ');
    }

    @Test
    void special_token_in_ordinary_text_covers_the_shorter_token_in_it() {
        Tokenizer tokenizer = SampleTokenizer.with(
                added(FREE, "<|im_end|>", "special"), added(FREE + 1, "<|"), added(FREE + 2, "żź"));
        assertThat(tokenizer.encode("żź<|im_end|>")).containsExactly(FREE + 2, FREE);
        assertThat(tokenizer.encodeOrdinary("żź<|im_end|>"))
                .startsWith(FREE + 2)
                .doesNotContain(FREE, FREE + 1)
                .isEqualTo(
                        Stream.of(new int[] {FREE + 2}, SampleTokenizer.with().encode("<|im_end|>"))
                                .flatMapToInt(Arrays::stream)
                                .toArray());
    }

    @Test
    void spaces_next_to_a_stripping_token_are_measured_once() {
        Tokenizer tokenizer = SampleTokenizer.with(added(FREE, "  ", "rstrip"));
        assertThat(tokenizer.encode(" ".repeat(1 << 20))).hasSize(1 << 19).containsOnly(FREE);
    }

    @Test
    void token_of_spaces_consumed_by_the_previous_token_is_dropped() {
        Tokenizer tokenizer = SampleTokenizer.with(added(FREE, "<pad>", "rstrip"), added(FREE + 1, "  ", "lstrip"));
        assertThat(tokenizer.encode("a<pad>  b")).containsExactly('a', FREE, 'b');
        assertThat(tokenizer.encode("a<pad>     b")).containsExactly('a', FREE, 'b');
        assertThat(tokenizer.encode("a  b")).containsExactly('a', FREE + 1, 'b');
    }

    @Test
    void missing_decoder_is_a_warning() {
        var root = TRAINED.tokenizerJson();
        root.remove("decoder");
        Tokenizer tokenizer = SampleTokenizer.of(json(root));
        assertThat(tokenizer.warnings()).singleElement().asString().contains("decoder");
        assertThat(tokenizer.decode(tokenizer.encode(TEXT))).isEqualTo(TEXT);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{",
                "[]",
                "null",
                "{}",
                "{\"model\":1}",
                "{\"a\":1,\"a\":2}",
                "version https://git-lfs.github.com/spec/v1"
            })
    void non_tokenizer_file_is_rejected(String text) {
        assertRefused(text);
    }

    @Test
    void damaged_file_is_accepted_or_rejected() {
        byte[] sound = SampleTokenizer.bytes(with("added_tokens", List.of(added(FREE, "<s>", "special"))));
        for (int seed = 0; seed < 3_000; seed++) {
            Random random = new Random(seed);
            byte[] damaged = sound.clone();
            for (int flips = 1 + random.nextInt(3); flips > 0; flips--) {
                damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
            }
            try {
                Tokenizer tokenizer = Tokenizers.fromTokenizerJson(damaged, "tokenizer.json");
                tokenizer.decode(tokenizer.encode(TEXT));
            } catch (BadModel expected) {
                assertThat(expected).hasMessageStartingWith("tokenizer.json");
            } catch (RuntimeException e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
    }
}
