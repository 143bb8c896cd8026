package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.golden.Golden;
import java.nio.file.Path;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A valid model, read by a thread that is interrupted. */
class InterruptedLoadTest {
    @TempDir
    private Path directory;

    @BeforeEach
    void copyModel() throws Exception {
        Golden.copyFiles("relu", directory);
    }

    @Test
    void interrupt_ends_loading_and_is_not_reported_as_a_fault_of_files() {
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> Roseinfer.open(directory.toString()))
                .isInstanceOf(CancellationException.class)
                .hasMessage("interrupted while the model was being loaded");
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void interrupt_ends_loading_that_neither_waits_nor_reads_a_file() {
        Settings settings = Settings.of("random:gpt2").withDevice(Settings.Device.SIM);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> Roseinfer.load(settings).close())
                .isInstanceOf(CancellationException.class)
                .hasMessage("interrupted while the model was being loaded");
        assertThat(Thread.interrupted()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(
            value = Settings.Device.class,
            names = {"SIM", "CPU"})
    void interrupt_ends_warm_up(Settings.Device device) {
        try (LoadedModel model =
                Roseinfer.load(Settings.of(directory.toString()).withDevice(device))) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(model::warmUp)
                    .isInstanceOf(CancellationException.class)
                    .hasMessage("interrupted while the model was being warmed up");
            assertThat(Thread.interrupted()).isTrue();
        }
    }
}
