package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that the simulation and other tests of the engine find planted bugs. */
@Tag("sim")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PlantedBugsTest {
    private static final int SEEDS = 2000;

    @ParameterizedTest
    @EnumSource
    void planted_bug_is_found_within_2000_seeds_or_by_its_test(PlantedBug bug) {
        PlantingLoader loader = new PlantingLoader(Optional.of(bug));
        Optional<String> found = bug.test().isPresent() ? loader.test(bug.test().get()) : simulated(loader);
        assertThat(loader.planted())
                .as(
                        "modified instructions in %s.%s; if the code has changed, update the planted bug",
                        bug.className(), bug.method())
                .isEqualTo(bug.instructions());
        assertThat(found).as("failure found for %s", bug).isPresent();
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
    void simulation_passes_without_a_planted_bug() {
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
