package io.roseinfer.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.WorkCounter;
import io.roseinfer.tokenizer.PipelineParityTest.Pipeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The work of encoding is linear in the length of a text: its steps are counted for adversarial texts. */
@Tag("parity")
class EncodingStepsTest {
    private static final int INPUTS = 120;
    private static final int CHARS = 6_000;

    /** A few per byte of a character, and some for a token that nearly matches at each. */
    private static final int MAX_STEPS_PER_CHAR = 64;

    static Stream<Pipeline> pipelines() {
        return Stream.concat(
                PipelineParityTest.families(),
                Stream.of(
                        PipelineParityTest.fixture(
                                "mistral", "llama2", root -> addTokens(root, "[control_%d]", 768, token -> {})),
                        PipelineParityTest.fixture("gemma with unused tokens", "llama2", root -> {
                            PipelineParityTest.gemma(root);
                            addTokens(root, "<unused%d>", 6_000, token -> {});
                        }),
                        PipelineParityTest.fixture(
                                "tokens that take spaces",
                                "qwen",
                                root -> addTokens(
                                        root,
                                        "<|pad_%d|>",
                                        40,
                                        token -> token.put("lstrip", true)
                                                .put("rstrip", true)
                                                .put("normalized", true))),
                        PipelineParityTest.fixture(
                                "tokens that are single words",
                                "llama3",
                                root -> addTokens(root, "ab%d", 40, token -> token.put("single_word", true)))));
    }

    private static void addTokens(ObjectNode root, String format, int count, Consumer<ObjectNode> change) {
        ArrayNode tokens = (ArrayNode) root.get("added_tokens");
        int first = tokens.get(tokens.size() - 1).get("id").intValue() + 1;
        for (int i = 0; i < count; i++) {
            ObjectNode token = tokens.addObject();
            token.put("id", first + i).put("content", String.format(format, i));
            for (String flag : List.of("special", "lstrip", "rstrip", "single_word", "normalized")) {
                token.put(flag, false);
            }
            change.accept(token);
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("pipelines")
    void steps_of_twice_the_text_are_at_most_2_2_times_as_many(Pipeline pipeline) {
        assertLinear((BpeTokenizer) SampleTokenizer.of(pipeline.json()));
    }

    @Test
    void steps_of_twice_the_text_are_at_most_2_2_times_as_many_for_gpt2() {
        assertLinear((BpeTokenizer) Tokenizers.gpt2());
    }

    private static void assertLinear(BpeTokenizer tokenizer) {
        for (int seed = 0; seed < INPUTS; seed++) {
            List<String> units = units(new Random(seed), tokenizer);
            String text = text(units, 1);
            long once = steps(tokenizer, text);
            long twice = steps(tokenizer, text(units, 2));
            assertThat(twice).as("seed %d: %s", seed, units).isLessThanOrEqualTo(once * 22 / 10);
            assertThat(once).as("seed %d: %s", seed, units).isLessThan((long) MAX_STEPS_PER_CHAR * text.length());
        }
    }

    private static long steps(BpeTokenizer tokenizer, String text) {
        WorkCounter work = new WorkCounter();
        tokenizer.encode(text, false, PostProcessor.NONE, work);
        return work.count();
    }

    /** Every unit, repeated, one after the other. */
    private static String text(List<String> units, int times) {
        StringBuilder text = new StringBuilder();
        for (String unit : units) {
            text.repeat(unit, times * (CHARS / unit.length() / units.size() + 1));
        }
        return text.toString();
    }

    private static List<String> units(Random random, BpeTokenizer tokenizer) {
        return IntStream.range(0, 1 + random.nextInt(3))
                .mapToObj(i -> unit(random, tokenizer))
                .toList();
    }

    private static String unit(Random random, BpeTokenizer tokenizer) {
        List<AddedToken> added = tokenizer.addedTokens();
        String token = added.isEmpty()
                ? "<s>"
                : added.get(random.nextInt(added.size())).content();
        String spaces = Texts.SPACES;
        return switch (random.nextInt(10)) {
            case 0 -> Character.toString(token.codePointAt(0));
            case 1 -> token.substring(0, Math.max(1, token.length() - 1));
            case 2 -> token + (random.nextBoolean() ? "" : " ".repeat(1 + random.nextInt(9)));
            case 3 -> nearly(token, random);
            case 4 ->
                "\u0301\u0323\u0345\u0344\u0f73\u1161\u09be"
                        .substring(random.nextInt(7))
                        .substring(0, 1);
            case 5 -> "a\u0301\u0323".substring(random.nextInt(2));
            case 6 ->
                String.valueOf(spaces.charAt(random.nextInt(spaces.length()))).repeat(1 + random.nextInt(3));
            case 7 -> word(random, 1_000);
            case 8 -> word(random, 1 + random.nextInt(4)) + " \n'1!".charAt(random.nextInt(5));
            default -> longest(random);
        };
    }

    /** Every prefix of a token, each followed by a mismatch. */
    private static String nearly(String token, Random random) {
        List<String> prefixes = new ArrayList<>();
        for (int end = 1; end < token.length(); end++) {
            if (!Character.isLowSurrogate(token.charAt(end))) {
                prefixes.add(token.substring(0, end));
            }
        }
        return String.join(random.nextBoolean() ? "" : "x", prefixes) + "y";
    }

    private static String word(Random random, int length) {
        StringBuilder word = new StringBuilder();
        random.ints(length, 'a', 'z' + 1).forEach(c -> word.append((char) c));
        return word.toString();
    }

    /** The longest of a few random texts, which has characters of all kinds. */
    private static String longest(Random random) {
        Texts texts = new Texts(random.nextLong());
        String longest = "a";
        for (int i = 0; i < 3; i++) {
            String text = texts.next();
            longest = text.length() > longest.length() ? text : longest;
        }
        return longest;
    }
}
