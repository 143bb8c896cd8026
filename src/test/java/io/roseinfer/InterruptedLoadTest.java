package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.golden.Golden;
import java.nio.file.Path;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
}
