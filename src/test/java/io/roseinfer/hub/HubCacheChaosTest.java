package io.roseinfer.hub;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The short form of {@link HubCacheChaos}. */
@Tag("process")
@Timeout(300)
class HubCacheChaosTest {
    private static final int KILLS = Integer.getInteger("roseinfer.iters", 2);

    @TempDir
    private Path root;

    @ParameterizedTest(name = "locks: {0}")
    @ValueSource(booleans = {true, false})
    void every_blob_has_its_hash_though_processes_that_share_the_cache_were_killed(boolean locks) throws Exception {
        long seed = Long.getLong("roseinfer.seed", 5);
        try (HubCacheChaos chaos = new HubCacheChaos(seed, locks, root)) {
            HubCacheChaos.Verdict verdict = chaos.run(KILLS);
            assertThat(verdict.faults()).as("seed %d", seed).isEmpty();
            assertThat(verdict.published()).isPositive();
        }
    }
}
