package io.roseinfer.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.WorkCounter;
import java.text.Normalizer;
import java.text.Normalizer.Form;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares the result with the JDK's normalizer, and checks that the time is linear. */
class NormalizationFormCTest {
    private static IntStream codePoints() {
        return IntStream.rangeClosed(0, Character.MAX_CODE_POINT).filter(c -> c < 0xd800 || c >= 0xe000);
    }

    private static String nfd(int codePoint) {
        return Normalizer.normalize(Character.toString(codePoint), Form.NFD);
    }

    /** Code points that normalization can change or move, and their decompositions. */
    private static int[] interesting() {
        return codePoints()
                .filter(c -> !nfd(c).equals(Character.toString(c)) || NormalizationFormC.mayCombineBack(c))
                .filter(c -> c < 0xac00 || (c > 0xac40 && c < 0xd780 && c % 97 == 0) || c > 0xd7a3)
                .flatMap(c -> IntStream.concat(IntStream.of(c), nfd(c).codePoints()))
                .distinct()
                .toArray();
    }

    private static void assertNormalized(String text, String description) {
        String expected = Normalizer.normalize(text, Form.NFC);
        assertThat(NormalizationFormC.of(text, new WorkCounter()).equals(expected))
                .as(
                        "%s: %s",
                        description,
                        text.codePoints().mapToObj(Integer::toHexString).toList())
                .isTrue();
    }

    @Test
    void text_equals_the_jdk_s_for_random_runs_of_any_length() {
        int[] interesting = interesting();
        for (int seed = 0; seed < 4_000; seed++) {
            Random random = new Random(seed);
            int[] few = random.ints(1 + random.nextInt(6), 0, interesting.length)
                    .map(i -> interesting[i])
                    .toArray();
            StringBuilder text = new StringBuilder();
            for (int runs = random.nextInt(6); runs >= 0; runs--) {
                int[] from = random.nextBoolean() ? few : interesting;
                text.append("ae\u0105 가".charAt(random.nextInt(5)));
                random.ints(random.nextInt(200), 0, from.length).forEach(i -> text.appendCodePoint(from[i]));
            }
            assertNormalized(text.toString(), "seed " + seed);
        }
    }

    @Test
    void text_equals_the_jdk_s_for_long_runs_of_each_code_point() {
        for (int c : interesting()) {
            assertNormalized("q" + Character.toString(c).repeat(70) + "\u0301\u0323", "U+" + Integer.toHexString(c));
        }
    }

    @Test
    void text_longer_than_a_chunk_equals_the_jdk_s() {
        int[] interesting = interesting();
        Random random = new Random(20);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 100_000; i++) {
            text.appendCodePoint(
                    random.nextBoolean() ? 'a' + random.nextInt(26) : interesting[random.nextInt(interesting.length)]);
        }
        assertNormalized(text.toString(), "seed 20");
    }

    @Test
    void chunks_end_before_code_points_that_do_not_combine_back() {
        List<String> wrong = new ArrayList<>();
        codePoints().forEach(c -> {
            String decomposed = nfd(c);
            int last = decomposed.codePointBefore(decomposed.length());
            boolean composite = !decomposed.equals(Character.toString(c))
                    && Normalizer.isNormalized(Character.toString(c), Form.NFC);
            boolean moves = !Normalizer.isNormalized("\u0345" + decomposed, Form.NFD)
                    || (!Normalizer.isNormalized(decomposed + "\u0334", Form.NFD) && decomposed.codePointAt(0) == last);
            if ((composite && !NormalizationFormC.mayCombineBack(last))
                    || (moves && !NormalizationFormC.mayCombineBack(c))
                    || (NormalizationFormC.mayCombineBack(decomposed.codePointAt(0))
                            && !NormalizationFormC.mayCombineBack(c))) {
                wrong.add(Integer.toHexString(c));
            }
        });
        assertThat(wrong)
                .as("code points of a newer Unicode: %s", Runtime.version())
                .isEmpty();
    }

    @Test
    void ranks_follow_the_classes_of_unicode() {
        // Classes 0, 1, 7, 9, 129, 202, 220, 230, 230, 240
        int[] marks = {'a', 0x334, 0x93c, 0x94d, 0xf71, 0x327, 0x323, 0x301, 0x302, 0x345};
        for (int i = 1; i < marks.length; i++) {
            int difference = CombiningClasses.rank(marks[i]) - CombiningClasses.rank(marks[i - 1]);
            assertThat(difference).as("U+%X", marks[i]).isEqualTo(marks[i] == 0x302 ? 0 : Math.max(1, difference));
        }
        assertThat(CombiningClasses.COUNT).isEqualTo(56);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a",
                "\u0301",
                "\u0301\u0323",
                "\u0345\u0344",
                "\u1161",
                "\u11a8",
                "\ud81b\udd67",
                "\ud81a\udd1e",
                "\u09be",
                "é",
                "\u0f73",
                "가",
                "가\u11a8",
                "\u0301\u09be",
                "\ufb2c",
                "日"
            })
    void steps_double_with_the_text(String unit) {
        long once = steps(unit.repeat(20_000));
        assertThat(steps(unit.repeat(40_000))).isLessThanOrEqualTo(once * 22 / 10);
    }

    /** Marks in the wrong order. */
    @Test
    void steps_double_with_two_runs_in_the_wrong_order() {
        long once = steps("a" + "\u0301".repeat(20_000) + "\u0323".repeat(20_000));
        assertThat(steps("a" + "\u0301".repeat(40_000) + "\u0323".repeat(40_000)))
                .isLessThanOrEqualTo(once * 22 / 10);
    }

    private static long steps(String text) {
        WorkCounter work = new WorkCounter();
        NormalizationFormC.of(text, work);
        return work.count();
    }
}
