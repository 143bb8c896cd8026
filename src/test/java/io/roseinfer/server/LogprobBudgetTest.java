package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.server.api.ApiError;
import org.junit.jupiter.api.Test;

class LogprobBudgetTest {
    private final LogprobBudget budget = new LogprobBudget(100);

    @Test
    void call_that_does_not_fit_reserves_nothing() {
        LogprobBudget.Share share = budget.reserve(60);
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> budget.reserve(41)).isInstanceOf(ApiError.class);
        }
        budget.reserve(40).close();
        share.close();
        budget.reserve(100).close();
    }
}
