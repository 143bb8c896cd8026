package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BackendUnavailable;
import io.roseinfer.base.RoseException.InsufficientMemory;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Why a device is not usable, where whoever asks has another one to take. */
class CudaRefusalTest {
    @Test
    void device_that_cannot_be_had_or_has_no_memory_left_is_not_usable() {
        for (RoseException reason : List.of(new BackendUnavailable("no driver"), new InsufficientMemory("no memory"))) {
            assertThat(CudaBackend.refusal(() -> {
                        throw reason;
                    }))
                    .contains(reason);
        }
    }

    @Test
    void bug_in_opening_it_is_no_reason() {
        assertThatThrownBy(() -> CudaBackend.refusal(() -> {
                    throw new IllegalStateException("a bug");
                }))
                .hasMessage("a bug");
    }
}
