package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
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

    /** Whether to search from seed 0 for every bug. */
    private static final boolean IS_LONG = Integer.getInteger("roseinfer.iters", 0) > 0;

    private static final Path KNOWN_SEEDS = Path.of("src/test/resources/sim/planted.txt");

    @ParameterizedTest
    @EnumSource
    void planted_bug_is_found_within_2000_seeds_or_by_its_test(PlantedBug bug) throws IOException {
        PlantingLoader loader = new PlantingLoader(Optional.of(bug));
        Optional<String> found = bug.test().isPresent() ? loader.test(bug.test().get()) : simulated(bug, loader);
        assertThat(loader.planted())
                .as(
                        "modified instructions in %s.%s; if the code has changed, update the planted bug",
                        bug.className(), bug.method())
                .isEqualTo(bug.instructions());
        assertThat(found).as("failure found for %s", bug).isPresent();
    }

    /** Tries the seed that found the bug last, which saves seconds, then all. */
    private static Optional<String> simulated(PlantedBug bug, PlantingLoader loader) throws IOException {
        LongFunction<Optional<String>> simulation = loader.simulation();
        Long known = IS_LONG ? null : knownSeeds().get(bug.name());
        Optional<String> found = known == null ? Optional.empty() : simulation.apply(known);
        for (long seed = 0; seed < SEEDS && found.isEmpty(); seed++) {
            found = simulation.apply(seed);
            if (found.isPresent()) {
                System.out.printf("%s: found by seed %d, which belongs in %s%n", bug, seed, KNOWN_SEEDS);
            }
        }
        return found;
    }

    /** Returns the seed that found each bug last. */
    private static Map<String, Long> knownSeeds() throws IOException {
        return Files.readAllLines(KNOWN_SEEDS).stream()
                .filter(line -> !line.startsWith("#"))
                .map(line -> line.split(" "))
                .collect(Collectors.toMap(words -> words[0], words -> Long.valueOf(words[1])));
    }

    /** Also runs the tests that find bugs. */
    @Test
    void simulation_passes_without_a_planted_bug() throws IOException {
        PlantingLoader loader = new PlantingLoader(Optional.empty());
        LongFunction<Optional<String>> simulation = loader.simulation();
        LongStream firstSeeds = LongStream.range(0, 50);
        LongStream.concat(firstSeeds, knownSeeds().values().stream().mapToLong(seed -> seed))
                .distinct()
                .forEach(seed ->
                        assertThat(simulation.apply(seed)).as("seed %d", seed).isEmpty());
        Stream.of(PlantedBug.values())
                .flatMap(bug -> bug.test().stream())
                .distinct()
                .forEach(test -> assertThat(loader.test(test)).as(test).isEmpty());
    }
}
