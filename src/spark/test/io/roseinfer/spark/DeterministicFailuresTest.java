package io.roseinfer.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Which failures end a job without another attempt. */
class DeterministicFailuresTest {
    @Test
    void failed_download_is_attempted_again() {
        BadModel failed = BadModel.notDownloaded("the connection was reset", new IOException("reset"));
        assertThat(DeterministicFailures.isPermanent(failed)).isFalse();
        assertThat(DeterministicFailures.isPermanent(failed.within("the model was not loaded")))
                .isFalse();
        assertThat(DeterministicFailures.isPermanent(new BadModel("no such model")))
                .isTrue();
    }
}
