package io.roseinfer.backend.sim;

import io.roseinfer.backend.ConstrainedSamples;
import io.roseinfer.backend.ReportedSamples;
import io.roseinfer.backend.RowSamples;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import org.junit.jupiter.api.Test;

/** The simulated device samples after any tokens of a row. */
class SimSamplesTest {
    private static final ModelSpec SPEC =
            SpecBuilder.named("sim").vocabulary(1000).context(64).build();

    @Test
    void sample_in_the_middle_of_a_row_equals_that_of_a_shorter_row() {
        try (SimRunner runner = new SimRunner(SPEC, RowSamples.LIMITS, SimOptions.defaults())) {
            RowSamples.assertEachEqualsItsPrefix(runner, 37);
            RowSamples.assertEachEqualsItsPrefix(runner, 8, 4, 25);
        }
    }

    @Test
    void masks_and_forbidden_tokens_move_the_choice() {
        try (SimRunner runner = new SimRunner(SPEC, RowSamples.LIMITS, SimOptions.defaults())) {
            ConstrainedSamples.assertMostLikelyAllowedToken(runner);
            ConstrainedSamples.assertNoAllowedToken(runner);
        }
    }

    @Test
    void reported_token_has_the_log_probability_of_the_drawn_one() {
        try (SimRunner runner = new SimRunner(SPEC, RowSamples.LIMITS, SimOptions.defaults())) {
            ReportedSamples.assertEqualDrawn(runner);
        }
    }

    @Test
    void tokens_may_follow_one_that_is_still_on_the_device() {
        SimOptions options = SimOptions.defaults().withMaxInFlight(2);
        try (SimRunner runner = new SimRunner(SPEC, RowSamples.LIMITS, options)) {
            RowSamples.assertTokensAfterOneOnTheDevice(runner);
        }
    }
}
