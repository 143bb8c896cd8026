package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The simulation put to the test: it must find bugs that are known to be there. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PlantedBugsTest {
    private static final int SEEDS = 2000;

    @ParameterizedTest
    @EnumSource
    void a_planted_bug_is_found_within_2000_seeds(PlantedBug bug) {
        PlantingLoader loader = new PlantingLoader(Optional.of(bug));
        LongFunction<Optional<String>> simulation = loader.simulation();
        Optional<String> found = Optional.empty();
        for (long seed = 0; seed < SEEDS && found.isEmpty(); seed++) {
            found = simulation.apply(seed);
        }
        assertThat(loader.planted())
                .as("places in %s.%s where the bug was planted; name its place anew", bug.className(), bug.method())
                .isEqualTo(bug.places());
        assertThat(found).as("what the simulation says of %s", bug).isPresent();
    }

    @Test
    void nothing_is_found_where_nothing_was_planted() {
        LongFunction<Optional<String>> simulation = new PlantingLoader(Optional.empty()).simulation();
        for (long seed = 0; seed < 50; seed++) {
            assertThat(simulation.apply(seed)).as("seed %d", seed).isEmpty();
        }
    }
}
