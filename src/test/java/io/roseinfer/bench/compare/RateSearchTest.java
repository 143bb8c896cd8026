package io.roseinfer.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RateSearchTest {
    /** Rates tried by a search if exactly the rates up to a limit meet the objective. */
    private static List<Double> tried(RateSearch search, double limit) {
        List<Double> tried = new ArrayList<>();
        for (OptionalDouble rate = search.next(); rate.isPresent(); rate = search.next()) {
            tried.add(rate.getAsDouble());
            search.tried(rate.getAsDouble(), rate.getAsDouble() <= limit);
        }
        return tried;
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.3, 4, 17, 100, 999})
    void search_finds_the_limit_to_within_its_resolution(double limit) {
        RateSearch search = new RateSearch(10, 0.05);
        assertThat(tried(search, limit)).hasSizeLessThan(20).doesNotHaveDuplicates();
        assertThat(search.highest().orElseThrow()).isBetween(limit / 1.05, limit);
    }

    @Test
    void search_ends_without_a_rate_if_none_meets_the_objective() {
        RateSearch search = new RateSearch(10, 0.05);
        assertThat(tried(search, 0))
                .hasSizeLessThan(20)
                .allSatisfy(rate ->
                        assertThat(new BigDecimal("" + rate).precision()).isLessThanOrEqualTo(4));
        assertThat(search.highest()).isEmpty();
    }

    @Test
    void search_ends_if_every_rate_meets_the_objective() {
        RateSearch search = new RateSearch(10, 0.05);
        List<Double> tried = tried(search, Double.POSITIVE_INFINITY);
        assertThat(tried).hasSizeLessThan(20);
        assertThat(search.highest()).hasValue(tried.getLast());
    }
}
