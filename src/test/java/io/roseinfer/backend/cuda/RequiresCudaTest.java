package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.RoseException.BackendUnavailable;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RequiresCudaTest {
    @Test
    void requires_cuda_no_device_skips_unless_forbidden() {
        Optional<BackendUnavailable> none = Optional.of(new BackendUnavailable("no driver"));
        assertThat(RequiresCuda.Condition.decide(none, false).isDisabled()).isTrue();
        assertThat(RequiresCuda.Condition.decide(none, false).getReason().orElseThrow())
                .startsWith("skipped: no CUDA device");
        assertThat(RequiresCuda.Condition.decide(none, true).isDisabled()).isFalse();
        assertThat(RequiresCuda.Condition.decide(Optional.empty(), false).isDisabled())
                .isFalse();
    }
}
