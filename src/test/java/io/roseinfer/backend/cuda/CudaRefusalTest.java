package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
}
