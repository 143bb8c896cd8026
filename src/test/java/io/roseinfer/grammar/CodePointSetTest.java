package io.roseinfer.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class CodePointSetTest {
    private static final int[] EDGES = {
        0, 0x2F, 0x30, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x3FFFF, 0x40000,
        0x10FFFF
    };

    private static CodePointSet random(SplittableRandom random) {
        int[] pairs = new int[2 * random.nextInt(5)];
        for (int i = 0; i < pairs.length; i += 2) {
            int first = random.nextBoolean() ? EDGES[random.nextInt(EDGES.length)] : random.nextInt(0x110000);
            int last = random.nextBoolean() ? EDGES[random.nextInt(EDGES.length)] : first + random.nextInt(70);
            pairs[i] = first;
            pairs[i + 1] = Math.clamp(last, first, 0x10FFFF);
        }
        return CodePointSet.ofRanges(pairs);
    }

    private static BitSet elements(CodePointSet set) {
        BitSet elements = new BitSet();
        for (int i = 0; i < set.rangeCount(); i++) {
            elements.set(set.first(i), set.last(i) + 1);
        }
        return elements;
    }

    @Test
    void operators_equal_those_of_bit_sets() {
        BitSet all = new BitSet();
        all.set(0, 0x110000);
        all.clear(Character.MIN_SURROGATE, Character.MAX_SURROGATE + 1);
        for (long seed = 0; seed < 300; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            CodePointSet left = random(random);
            CodePointSet right = random(random);
            BitSet union = elements(left);
            union.or(elements(right));
            assertThat(elements(left.union(right))).as("seed %d", seed).isEqualTo(union);
            BitSet common = elements(left);
            common.and(elements(right));
            assertThat(elements(left.intersection(right))).as("seed %d", seed).isEqualTo(common);
            BitSet others = (BitSet) all.clone();
            others.andNot(elements(left));
            assertThat(elements(left.complement())).as("seed %d", seed).isEqualTo(others);
            assertThat(left.complement().complement()).isEqualTo(left).hasSameHashCodeAs(left);
            int point = random.nextInt(0x110000);
            assertThat(left.contains(point)).isEqualTo(elements(left).get(point));
        }
    }

    @Test
    void surrogates_are_no_elements() {
        assertThat(CodePointSet.of(0xD800)).isEqualTo(CodePointSet.NONE);
        assertThat(CodePointSet.range(0, 0x10FFFF)).isEqualTo(CodePointSet.ALL).hasToString("[0-d7ff e000-10ffff]");
        assertThatThrownBy(() -> CodePointSet.range(5, 4))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("range 5..4 is not within 0..0x10FFFF");
    }

    @Test
    void compiled_sets_accept_the_encodings_of_their_elements() {
        for (long seed = 0; seed < 6; seed++) {
            CodePointSet set = random(new SplittableRandom(seed));
            ByteRegexTable table = new ByteRegexTable(1000, 100);
            ByteRegex regex = new RegexCompiler(table, () -> {}).compile(Regex.chars(set));
            ByteClasses classes = table.seal();
            for (int point = 0; point < 0x110000; point++) {
                if (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE) {
                    continue;
                }
                ByteRegex rest = regex;
                for (byte value : Character.toString(point).getBytes(StandardCharsets.UTF_8)) {
                    rest = table.next(rest, classes.of(value));
                }
                if ((rest == table.empty) != set.contains(point)) {
                    throw new AssertionError("seed " + seed + ", code point " + point + " of " + set);
                }
            }
        }
    }

    @Test
    void malformed_utf8_is_never_accepted() {
        ByteRegexTable table = new ByteRegexTable(1000, 100);
        ByteRegex any = new RegexCompiler(table, () -> {}).compile(Regex.chars(CodePointSet.ALL));
        ByteClasses classes = table.seal();
        byte[][] malformed = {
            {(byte) 0x80},
            {(byte) 0xC0, (byte) 0x80},
            {(byte) 0xC1, (byte) 0xBF},
            {(byte) 0xE0, (byte) 0x9F, (byte) 0xBF},
            {(byte) 0xED, (byte) 0xA0, (byte) 0x80},
            {(byte) 0xF0, (byte) 0x8F, (byte) 0xBF, (byte) 0xBF},
            {(byte) 0xF4, (byte) 0x90, (byte) 0x80, (byte) 0x80},
            {(byte) 0xF5, (byte) 0x80, (byte) 0x80, (byte) 0x80},
            {(byte) 0xFF}
        };
        for (byte[] text : malformed) {
            ByteRegex rest = any;
            for (byte value : text) {
                rest = table.next(rest, classes.of(value));
            }
            assertThat(rest).isSameAs(table.none);
        }
    }
}
