package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The simulation and other tests of the engine put to the test: they must find bugs that are known to be there. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PlantedBugsTest {
    private static final int SEEDS = 2000;

    @ParameterizedTest
    @EnumSource
    void a_planted_bug_is_found_within_2000_seeds_or_by_the_test_that_it_names(PlantedBug bug) {
        PlantingLoader loader = new PlantingLoader(Optional.of(bug));
        Optional<String> found = bug.test().isPresent() ? loader.test(bug.test().get()) : simulated(loader);
        assertThat(loader.planted())
                .as("places in %s.%s where the bug was planted; name its place anew", bug.className(), bug.method())
                .isEqualTo(bug.places());
        assertThat(found).as("what is said of %s", bug).isPresent();
    }

    private static Optional<String> simulated(PlantingLoader loader) {
        LongFunction<Optional<String>> simulation = loader.simulation();
        Optional<String> found = Optional.empty();
        for (long seed = 0; seed < SEEDS && found.isEmpty(); seed++) {
            found = simulation.apply(seed);
        }
        return found;
    }

    @Test
    void nothing_is_found_where_nothing_was_planted() {
        PlantingLoader loader = new PlantingLoader(Optional.empty());
        LongFunction<Optional<String>> simulation = loader.simulation();
        for (long seed = 0; seed < 50; seed++) {
            assertThat(simulation.apply(seed)).as("seed %d", seed).isEmpty();
        }
        Stream.of(PlantedBug.values())
                .flatMap(bug -> bug.test().stream())
                .distinct()
                .forEach(test -> assertThat(loader.test(test)).as(test).isEmpty());
    }
}
