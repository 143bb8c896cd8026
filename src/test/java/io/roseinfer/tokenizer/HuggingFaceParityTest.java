package io.roseinfer.tokenizer;

import static io.roseinfer.tokenizer.TrainedVocabulary.added;
import static io.roseinfer.tokenizer.TrainedVocabulary.byteLevel;
import static io.roseinfer.tokenizer.TrainedVocabulary.json;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares ids and text with Hugging Face's library. */
@Tag("parity")
class HuggingFaceParityTest {
    private static final int TEXTS = Integer.getInteger("roseinfer.iters", 3_000);
    private static final TrainedVocabulary TRAINED = TrainedVocabulary.train(7, 400);
    private static final int ADDED = TRAINED.tokens().size();

    /** A token that merges also produce. */
    private static final int FOX = TRAINED.tokens().indexOf("fox");

    private static final String[] CONTENTS = {
        "<s>", "<|im|>", "<|im|>x", "<mask>", "<pad>", "word", "  ", "\n", "fox", "żź", "<s", "<", "日本", "👍"
    };

    @TempDir
    Path directory;

    @Test
    void gpt2_ids_equal_hugging_face() {
        try (HuggingFace oracle = HuggingFace.load(Gpt2Json.make())) {
            assertSameIds(oracle, Tokenizers.gpt2(), new Texts(20250, "<|endoftext|>", "<|endoftext", " hello world"));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void trained_ids_with_added_tokens_equal_hugging_face(boolean addPrefixSpace) throws IOException {
        var root = withAddedTokens();
        root.put("pre_tokenizer", byteLevel(addPrefixSpace));
        Files.writeString(directory.resolve("tokenizer.json"), json(root));
        String config = json(Map.of("tokenizer_class", "PreTrainedTokenizerFast")); // uses tokenizer.json unchanged
        Files.writeString(directory.resolve("tokenizer_config.json"), config);
        Tokenizer tokenizer = Tokenizers.fromDirectory(directory).orElseThrow();
        try (HuggingFace oracle = HuggingFace.load(json(root))) {
            assertSameIds(oracle, tokenizer, new Texts(20251, CONTENTS));
        }
    }

    @Test
    void whole_text_as_one_word_gives_the_ids_of_hugging_face() {
        var root = TRAINED.tokenizerJson();
        var preTokenizer = byteLevel(true);
        preTokenizer.put("use_regex", false);
        root.put("pre_tokenizer", preTokenizer);
        Tokenizer tokenizer = tokenizer(json(root));
        try (HuggingFace oracle = HuggingFace.load(json(root))) {
            assertSameIds(oracle, tokenizer, new Texts(20252));
        }
    }

    @Test
    void split_by_the_expression_of_gpt2_gives_the_ids_of_hugging_face() {
        var byteLevel = byteLevel(false);
        byteLevel.put("use_regex", false);
        var split = Map.of(
                "type",
                "Split",
                "pattern",
                Map.of("Regex", WordRules.GPT2_PATTERN),
                "behavior",
                "Isolated",
                "invert",
                false);
        var root = TRAINED.tokenizerJson();
        root.put("pre_tokenizer", Map.of("type", "Sequence", "pretokenizers", List.of(split, byteLevel)));
        Tokenizer tokenizer = tokenizer(json(root));
        try (HuggingFace oracle = HuggingFace.load(json(root))) {
            assertSameIds(oracle, tokenizer, new Texts(20253));
        }
    }

    @Test
    void vocabulary_and_merges_files_give_the_ids_of_hugging_face(@TempDir Path directory) throws IOException {
        Files.writeString(directory.resolve("vocab.json"), json(TRAINED.ids()));
        Files.writeString(directory.resolve("merges.txt"), TRAINED.mergesTxt());
        Tokenizer tokenizer = Tokenizers.fromDirectory(directory).orElseThrow();
        try (HuggingFace oracle = HuggingFace.load(json(TRAINED.tokenizerJson()))) {
            assertSameIds(oracle, tokenizer, new Texts(20254));
        }
    }

    @Test
    void ordinary_ids_equal_hugging_face_without_its_special_tokens() {
        var fox = added(FOX, "fox");
        var japan = added(ADDED, "日本", "normalized");
        var ordinary = TRAINED.tokenizerJson();
        ordinary.put("added_tokens", List.of(fox, japan));
        var withSpecial = TRAINED.tokenizerJson();
        withSpecial.put("added_tokens", List.of(fox, japan, added(ADDED + 1, "<|im|>", "special")));
        Tokenizer tokenizer = tokenizer(json(withSpecial));
        try (HuggingFace oracle = HuggingFace.load(json(ordinary))) {
            Texts texts = new Texts(20255, "<|im|>", "fox", "日本");
            for (int i = 0; i < TEXTS; i++) {
                String text = texts.next();
                assertThat(tokenizer.encodeOrdinary(text))
                        .as("seed 20255 text %d: %s", i, text)
                        .isEqualTo(oracle.encode(text));
            }
        }
    }

    @Test
    void repeated_merge_takes_the_last_rank_as_hugging_face_does() {
        List<List<String>> merges = new ArrayList<>(TRAINED.merges());
        for (int i = 0; i < 40; i++) {
            merges.add(TRAINED.merges().get(i * 2));
        }
        var model = TRAINED.model();
        model.put("merges", merges);
        var root = TRAINED.tokenizerJson();
        root.put("model", model);
        Tokenizer tokenizer = tokenizer(json(root));
        assertThat(tokenizer.warnings()).hasSize(40).allMatch(warning -> warning.contains("repeats the merge"));
        try (HuggingFace oracle = HuggingFace.load(json(root))) {
            assertSameIds(oracle, tokenizer, new Texts(20256));
        }
    }

    @Test
    void text_of_random_ids_equals_hugging_face() {
        Tokenizer tokenizer = Tokenizers.gpt2();
        Random random = new Random(20257);
        try (HuggingFace oracle = HuggingFace.load(Gpt2Json.make())) {
            for (int i = 0; i < TEXTS; i++) {
                // Half of the ids are single bytes, so that ill-formed UTF-8 of every kind occurs.
                int[] ids = random.ints(random.nextInt(20), 0, 512)
                        .map(id -> id < 256 ? id : id * 98)
                        .toArray();
                assertThat(tokenizer.decode(ids)).as("seed 20257 ids %s", ids).isEqualTo(oracle.decode(ids));
            }
        }
    }

    /**
     * A code point's class is visible in which of the runs x, 1 and ! it joins; white space joins none. Without
     * {@code -Droseinfer.iters} only the first code points of a block without a character are tested.
     */
    @Test
    void every_code_point_has_the_class_that_hugging_face_gives_it() {
        boolean all = Integer.getInteger("roseinfer.iters", 0) > 0;
        try (HuggingFace oracle = HuggingFace.load(
                json(new TrainedVocabulary(TRAINED.tokens().subList(0, 256), List.of()).tokenizerJson()))) {
            for (int first = 0; first <= Character.MAX_CODE_POINT; first += 0x800) {
                if (first != 0xd800) {
                    boolean hasCharacter = IntStream.range(first, first + 0x800)
                            .map(Character::getType)
                            .anyMatch(type -> type != Character.UNASSIGNED && type != Character.PRIVATE_USE);
                    assertSameClasses(oracle, first, first + (all || hasCharacter ? 0x800 : 8));
                }
            }
        }
    }

    private static void assertSameClasses(HuggingFace oracle, int first, int end) {
        StringBuilder text = new StringBuilder();
        for (int c = first; c < end; c++) {
            text.append('x')
                    .appendCodePoint(c)
                    .append('1')
                    .appendCodePoint(c)
                    .append('!')
                    .appendCodePoint(c)
                    .append('\n');
        }
        long[] words = oracle.words(text.toString());
        int at = 0;
        for (int c = first; c < end; c++) {
            int step = 1 + Character.toString(c).getBytes(StandardCharsets.UTF_8).length;
            byte expected = CharacterClass.SPACE;
            for (byte kind : new byte[] {CharacterClass.LETTER, CharacterClass.NUMBER, CharacterClass.OTHER}) {
                int probe = at + (kind == CharacterClass.OTHER ? 2 : kind) * step;
                expected = words[probe] == words[probe + 1] ? kind : expected;
            }
            assertThat(CharacterClass.of(c)).as("class of U+%04X", c).isEqualTo(expected);
            at += 3 * step + 1;
        }
        assertThat(at).isEqualTo(words.length);
    }

    /** No stripping token of spaces directly after another stripping token: the reference aborts if the two overlap. */
    private static Map<String, Object> withAddedTokens() {
        var root = TRAINED.tokenizerJson();
        root.put(
                "added_tokens",
                List.of(
                        added(ADDED, "<s>", "special"),
                        added(ADDED + 1, "<|im|>", "special"),
                        added(ADDED + 2, "<|im|>x"),
                        added(ADDED + 3, "<mask>", "special", "lstrip"),
                        added(ADDED + 4, "<pad>", "rstrip", "lstrip"),
                        added(ADDED + 5, "word", "single_word"),
                        added(ADDED + 6, "  "),
                        added(ADDED + 7, "\n", "rstrip"),
                        added(FOX, "fox", "normalized"),
                        added(ADDED + 8, "żź", "normalized", "single_word", "rstrip"),
                        added(ADDED + 9, "<s", "normalized")));
        return root;
    }

    private static void assertSameIds(HuggingFace oracle, Tokenizer tokenizer, Texts texts) {
        for (int i = 0; i < TEXTS; i++) {
            String text = texts.next();
            assertThat(tokenizer.encode(text)).as("text %d: %s", i, text).isEqualTo(oracle.encode(text));
        }
    }

    private static Tokenizer tokenizer(String json) {
        return Tokenizers.fromTokenizerJson(bytes(json), "tokenizer.json");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
