package io.roseinfer.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.grammar.DecimalSet.Relation;
import java.math.BigDecimal;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DecimalSetTest {
    private final Random random = new Random(7);

    private BigDecimal number() {
        int digits = 1 + random.nextInt(3);
        int unscaled = random.nextInt((int) Math.pow(10, digits));
        return new BigDecimal(random.nextBoolean() ? unscaled : -unscaled).movePointLeft(random.nextInt(3));
    }

    @Test
    void bounds_agree_with_decimal_comparison() {
        for (int i = 0; i < 200; i++) {
            BigDecimal bound = number();
            for (Relation relation : Relation.values()) {
                DecimalSet set = DecimalSet.of(relation, bound, "minimum");
                for (int j = 0; j < 50; j++) {
                    BigDecimal value = j == 0 ? bound : j == 1 ? BigDecimal.ZERO : number();
                    assertThat(set.matches(value.toPlainString()))
                            .as("%s %s %s", value, relation, bound)
                            .isEqualTo(relation.holds(value.compareTo(bound)));
                }
            }
        }
    }

    @Test
    void spellings_of_one_number_are_in_a_set_together() {
        DecimalSet one = DecimalSet.of(Relation.EQUAL, BigDecimal.ONE, "const");
        assertThat(one.matches("1") && one.matches("1.0") && one.matches("1.00"))
                .isTrue();
        assertThat(one.matches("01") || one.matches("1.") || one.matches("1.01") || one.matches("-1"))
                .isFalse();
        DecimalSet zero = DecimalSet.of(Relation.EQUAL, BigDecimal.ZERO, "const");
        assertThat(zero.matches("0") && zero.matches("-0") && zero.matches("-0.0"))
                .isTrue();
    }

    @Test
    void multiples_agree_with_decimal_remainders() {
        for (int i = 0; i < 60; i++) {
            BigDecimal divisor = number().abs().add(new BigDecimal("0.01")).min(new BigDecimal("60"));
            DecimalSet set = DecimalSet.multiplesOf(divisor);
            for (int j = 0; j < 100; j++) {
                BigDecimal value = j % 2 == 0 ? number() : divisor.multiply(BigDecimal.valueOf(random.nextInt(500)));
                assertThat(set.matches(value.toPlainString()))
                        .as("%s is a multiple of %s", value, divisor)
                        .isEqualTo(value.remainder(divisor).signum() == 0);
            }
        }
    }

    @Test
    void sets_are_combined_exactly() {
        DecimalSet low = DecimalSet.of(Relation.GREATER_OR_EQUAL, BigDecimal.valueOf(3), "minimum");
        DecimalSet high = DecimalSet.of(Relation.LESS, BigDecimal.valueOf(3), "maximum");
        assertThat(low.and(high).isEmpty()).isTrue();
        assertThat(low.or(high)).isEqualTo(DecimalSet.ALL);
        assertThat(DecimalSet.ALL.minus(low)).isEqualTo(high);
        assertThat(low.containsAll(DecimalSet.of(Relation.GREATER, BigDecimal.TEN, "minimum")))
                .isTrue();
        assertThat(DecimalSet.multiplesOf(new BigDecimal("0.5")).containsAll(DecimalSet.INTEGERS))
                .isTrue();
    }

    @Test
    void expression_matches_the_spellings_of_its_automaton() {
        for (int i = 0; i < 60; i++) {
            DecimalSet set = DecimalSet.of(Relation.GREATER_OR_EQUAL, number(), "minimum")
                    .and(DecimalSet.of(Relation.LESS, number(), "maximum"));
            set = i % 2 == 0 ? set.and(DecimalSet.INTEGERS) : set;
            DecimalSet written = DecimalRegex.written(set);
            Regex regex = DecimalRegex.regex(written);
            if (regex == null) {
                throw new AssertionError("the expression is too large");
            }
            for (int j = 0; j < 60; j++) {
                String text = number().toPlainString();
                assertThat(GrammarOracle.accepts(regex, text)).as(text).isEqualTo(written.matches(text));
            }
        }
    }

    @Test
    void integers_are_written_without_a_fraction_and_finite_sets_in_shortest_form() {
        DecimalSet integers = DecimalRegex.written(DecimalSet.INTEGERS);
        assertThat(integers.matches("10")).isTrue();
        assertThat(integers.matches("1.0") || integers.matches("-0")).isFalse();
        DecimalSet half = DecimalRegex.written(DecimalSet.of(Relation.EQUAL, new BigDecimal("0.50"), "const"));
        assertThat(half.spellings(9)).containsExactly("0.5");
    }

    @Test
    void limits_are_named() {
        assertThatThrownBy(() -> DecimalSet.of(Relation.LESS, new BigDecimal("1e500"), "maximum"))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("maximum is 1E+500")
                .hasMessageContaining("400 digits");
        assertThatThrownBy(() -> DecimalSet.multiplesOf(new BigDecimal("123456.789")))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("multipleOf is 123456.789");
    }
}
