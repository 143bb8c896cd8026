package io.roseinfer.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.StrictJson;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Compares ids and text of each family's pipeline with Hugging Face's library, for small trained vocabularies
 * ({@code tools/golden/tokenizer_pipelines.py}) and variants of them.
 */
@Tag("parity")
class PipelineParityTest {
    private static final int TEXTS = 10_000;

    /**
     * The marks whose order Unicode has defined since version 9, whose tables the library's normalizer has. After them,
     * several marks on one letter may be in another order.
     */
    private static final String NEWER_MARKS =
            "7FD 897-89F 8CA-8D3 9FE C3C D3B-D3C EBA 1715 1ABF-1ACE 1DF6-1DFA A82C 10D24-10D27 10D69-10D6D 10EAB-10EAC"
                    + " 10EFD-10EFF 10F46-10F50 10F82-10F85 11070 1133B 113CE-113D0 1145E 11839-1183A 1193D-1193E 11943"
                    + " 119E0 11A34 11A47 11A99 11D42 11D44-11D45 11D97 11F41-11F42 1612F 16FF0-16FF1 1E08F 1E130-1E136"
                    + " 1E2AE 1E2EC-1E2EF 1E4EC-1E4EF 1E5EE-1E5EF";

    /** A named tokenizer file. */
    record Pipeline(String name, String json) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Arguments> pipelines() {
        return families().map(Arguments::of);
    }

    static Stream<Pipeline> families() {
        return Stream.of(
                fixture("qwen", "qwen", root -> {}),
                fixture("llama3", "llama3", root -> {}),
                fixture("smollm", "smollm", root -> {}),
                fixture("digit runs", "smollm", PipelineParityTest::digitRuns),
                fixture("bytes that are unknown", "smollm", PipelineParityTest::unknownBytes),
                fixture("llama2", "llama2", root -> {}),
                fixture("metaspace first", "llama2", root -> metaspace(root, "first", false)),
                fixture("metaspace always", "llama2", root -> metaspace(root, "always", true)),
                fixture("metaspace never", "llama2", root -> metaspace(root, "never", true)),
                fixture("gemma", "llama2", PipelineParityTest::gemma),
                fixture("some bytes", "llama2", root -> withoutBytes(root, true)),
                fixture("some bytes, unknowns apart", "llama2", root -> withoutBytes(root, false)),
                fixture("no unknown", "llama2", PipelineParityTest::nothingForUnknown));
    }

    static Pipeline fixture(String name, String file, Consumer<ObjectNode> change) {
        try (InputStream in = PipelineParityTest.class.getResourceAsStream("/tokenizer/" + file + ".json")) {
            ObjectNode root = (ObjectNode) StrictJson.parse(in.readAllBytes());
            addTokens(
                    (ArrayNode) root.get("added_tokens"),
                    root.get("model").get("vocab").size());
            change.accept(root);
            return new Pipeline(name, root.toString());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Tokens with every property, in addition to the fixture's; their ids come after all others. */
    private static void addTokens(ArrayNode tokens, int vocabulary) {
        int id = Math.max(vocabulary, tokens.get(tokens.size() - 1).get("id").intValue() + 1);
        String[] contents = {"<mask>", "<pad>", "word", "e\u0301 x", "two  words", "\n\t\n"};
        String[] flags = {"special lstrip", "rstrip", "single_word normalized", "normalized", "normalized", "lstrip"};
        for (int i = 0; i < contents.length; i++) {
            ObjectNode token = tokens.addObject().put("id", id + i).put("content", contents[i]);
            for (String flag : List.of("special", "lstrip", "rstrip", "single_word", "normalized")) {
                token.put(flag, flags[i].contains(flag));
            }
        }
    }

    private static void digitRuns(ObjectNode root) {
        ((ObjectNode) root.get("pre_tokenizer").get("pretokenizers").get(0)).put("individual_digits", false);
    }

    private static void unknownBytes(ObjectNode root) {
        ObjectNode model = (ObjectNode) root.get("model");
        ((ObjectNode) model.get("vocab")).put("<none>", model.get("vocab").size());
        model.put("unk_token", "<none>").put("fuse_unk", true);
        ((ArrayNode) root.get("added_tokens")).removeAll();
    }

    private static void metaspace(ObjectNode root, String scheme, boolean split) {
        ObjectNode metaspace = StrictJson.mapper().createObjectNode();
        metaspace
                .put("type", "Metaspace")
                .put("replacement", "▁")
                .put("prepend_scheme", scheme)
                .put("split", split);
        root.putNull("normalizer");
        root.set("pre_tokenizer", metaspace);
        root.set("decoder", metaspace);
    }

    static void gemma(ObjectNode root) {
        root.set("normalizer", root.get("normalizer").get("normalizers").get(1));
        ObjectNode split = StrictJson.mapper().createObjectNode();
        split.put("type", "Split").put("behavior", "MergedWithPrevious").put("invert", false);
        split.putObject("pattern").put("String", " ");
        root.set("pre_tokenizer", split);
        ((ArrayNode) root.get("decoder").get("decoders")).remove(3);
    }

    /** Characters beyond the Basic Multilingual Plane have no encoding any more. */
    private static void withoutBytes(ObjectNode root, boolean fused) {
        ObjectNode model = (ObjectNode) root.get("model");
        model.put("fuse_unk", fused);
        // Another name keeps the ids contiguous, which the reference needs.
        ObjectNode vocabulary = (ObjectNode) model.get("vocab");
        int id = vocabulary.remove("<0xF0>").intValue();
        vocabulary.put("<gone>", id);
    }

    private static void nothingForUnknown(ObjectNode root) {
        ((ObjectNode) root.get("model")).putNull("unk_token").put("byte_fallback", false);
    }

    private static Texts texts(long seed) {
        return new Texts(
                seed,
                "<mask>",
                "<pad>",
                "word",
                "e\u0301 x",
                "é x",
                "two  words",
                "\n\t\n",
                "\n\n",
                "<s>",
                "</s>",
                "<unk>",
                "<0x41>",
                "<|im_start|>",
                "<|begin_of_text|>",
                "<think>",
                "▁",
                "▁▁",
                "the 's fox",
                "  ",
                "\r\n",
                " \n ",
                "12345",
                "don't",
                "\u0004\u0006",
                "\u001d",
                "𝕏",
                "🜁🜁");
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("pipelines")
    void ids_equal_hugging_face(Pipeline pipeline) {
        Tokenizer tokenizer = tokenizer(pipeline);
        try (HuggingFace oracle = HuggingFace.load(pipeline.json)) {
            Texts texts = texts(20260);
            for (int i = 0; i < TEXTS; i++) {
                String text = texts.next();
                assertThat(tokenizer.encode(text))
                        .as("seed 20260 text %d: %s", i, text)
                        .isEqualTo(oracle.encode(text));
            }
        }
    }

    /** Each next to a letter, a number, a space, a newline, a symbol and a composing mark. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"qwen | " + NEWER_MARKS, "smollm | 11DE0-11DE9 16FF4-16FF6"})
    void ids_of_every_code_point_equal_hugging_face_except_newer_ones(String file, String newer) {
        Pipeline pipeline = fixture(file, file, root -> {});
        Tokenizer tokenizer = tokenizer(pipeline);
        CodePointRanges differing = new CodePointRanges();
        try (HuggingFace oracle = HuggingFace.load(pipeline.json)) {
            for (int first = 0;
                    first < 0xe1000;
                    first = first == 0xd780 ? 0xe000 : first == 0x1ff80 ? 0xe0000 : first + 0x80) {
                String block = inContext(first, first + 0x80);
                if (!Arrays.equals(tokenizer.encode(block), oracle.encode(block))) {
                    for (int c = first; c < first + 0x80; c++) {
                        String one = inContext(c, c + 1);
                        if (!Arrays.equals(tokenizer.encode(one), oracle.encode(one))) {
                            differing.add(c);
                        }
                    }
                }
            }
        }
        assertThat(differing).hasToString(newer);
    }

    private static String inContext(int first, int end) {
        StringBuilder text = new StringBuilder();
        for (int c = first; c < end; c++) {
            String one = Character.toString(c);
            text.append(String.join(one, "a\u0345", "\u0301x", "  ", "1", "!", "\n"));
        }
        return text.toString();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("pipelines")
    void prompts_have_the_special_tokens_of_hugging_face(Pipeline pipeline) {
        Tokenizer tokenizer = tokenizer(pipeline);
        try (HuggingFace oracle = HuggingFace.load(pipeline.json, true)) {
            Texts texts = texts(20261);
            for (int i = 0; i < 200; i++) {
                String text = texts.next();
                assertThat(tokenizer.encodePrompt(text))
                        .as("seed 20261 text %d: %s", i, text)
                        .isEqualTo(oracle.encode(text));
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("pipelines")
    void text_of_random_ids_equals_hugging_face_and_its_stream_at_any_cut(Pipeline pipeline) {
        Tokenizer tokenizer = tokenizer(pipeline);
        try (HuggingFace oracle = HuggingFace.load(pipeline.json)) {
            RandomIds random = new RandomIds(20262, tokenizer);
            for (int i = 0; i < TEXTS / 4; i++) {
                int[] ids = random.next();
                boolean skip = i % 2 == 0;
                String expected = oracle.decode(ids, skip);
                assertThat(StreamedText.of(tokenizer.detokenizer(skip), ids))
                        .as("seed 20262 ids %d %s", i, IntStream.of(ids).boxed().toList())
                        .isEqualTo(expected);
                StreamedText.assertSameAtAnyCut(tokenizer, skip, ids);
            }
        }
    }

    @Test
    void llama2_prepends_a_space_to_every_part_and_removes_only_the_first() {
        Tokenizer tokenizer = tokenizer(fixture("llama2", "llama2", root -> {}));
        assertThat(tokenizer.decode(tokenizer.encode("a<s>b"))).isEqualTo("a<s> b");
        assertThat(tokenizer.decode(tokenizer.encodePrompt("a"))).isEqualTo("<s> a");
        assertThat(StreamedText.of(tokenizer.continuation(true), tokenizer.encode("a b")))
                .isEqualTo(" a b");
    }

    private static Tokenizer tokenizer(Pipeline pipeline) {
        return SampleTokenizer.of(pipeline.json);
    }

    /** Code points in ascending order, as text such as {@code 41-5A 61}. */
    private static final class CodePointRanges {
        private final StringBuilder text = new StringBuilder();
        private int first = -1;
        private int last = -2;

        void add(int codePoint) {
            if (codePoint != last + 1) {
                close();
                first = codePoint;
            }
            last = codePoint;
        }

        private void close() {
            if (first >= 0) {
                text.append(text.isEmpty() ? "" : " ").append(String.format("%X", first));
                if (last > first) {
                    text.append(String.format("-%X", last));
                }
            }
        }

        @Override
        public String toString() {
            close();
            first = -1;
            last = -2;
            return text.toString();
        }
    }
}
