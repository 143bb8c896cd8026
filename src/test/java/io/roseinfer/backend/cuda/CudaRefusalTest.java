package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BackendUnavailable;
import io.roseinfer.base.RoseException.InsufficientMemory;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Reasons why a device is unusable. */
class CudaRefusalTest {
    @Test
    void unavailable_or_full_device_is_unusable() {
        for (RoseException reason : List.of(new BackendUnavailable("no driver"), new InsufficientMemory("no memory"))) {
            assertThat(CudaBackend.refusal(() -> {
                        throw reason;
                    }))
                    .contains(reason);
        }
    }

    @Test
    void bug_while_opening_is_rethrown() {
        assertThatThrownBy(() -> CudaBackend.refusal(() -> {
                    throw new IllegalStateException("a bug");
                }))
                .hasMessage("a bug");
    }

    @Test
    void missing_driver_is_named_before_missing_kernels() {
        assumeFalse(CudaBackend.hasDriver(), "this machine has a driver");
        assertThat(CudaBackend.refusal())
                .hasValueSatisfying(refusal -> assertThat(refusal)
                        .hasMessageStartingWith("device cuda: ")
                        .hasMessageNotContaining("nvcc"));
    }
}
