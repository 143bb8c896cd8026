package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.base.RoseException.BadInput;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GridLimitsTest {
    @ParameterizedTest
    @CsvSource({"65536, 64", "65535, 64", "131072, 8192", "65408, 8192"})
    void too_many_rows_for_a_grid_names_the_options(int rows, int tokens) {
        assertThatThrownBy(() -> GridLimits.require(new RunnerLimits(rows, tokens, 16, 0), "device cuda:0"))
                .isInstanceOf(BadInput.class)
                .hasMessageStartingWith("device cuda:0: a step of " + rows + " rows and " + tokens + " tokens")
                .hasMessageContaining("at most 65535")
                .hasMessageContaining("maxBatchSize");
    }

    @Test
    void as_many_rows_as_a_grid_holds_pass() {
        assertThatCode(() -> GridLimits.require(new RunnerLimits(65_407, 8192, 16, 0), "device cuda:0"))
                .doesNotThrowAnyException();
    }
}
