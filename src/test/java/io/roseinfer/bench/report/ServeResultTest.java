package io.roseinfer.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.ClientCost;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.Oddities;
import io.roseinfer.bench.http.RunValidity;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class ServeResultTest {
    private static final long START_NANOS = 1_000;

    @Test
    void request_that_fails_before_its_first_event_has_the_time_0_of_its_last_one() {
        CallResult refused = new CallResult(
                0,
                6,
                4,
                new CallResult.Times(START_NANOS + 1, START_NANOS + 2, START_NANOS + 3, 0, START_NANOS + 4),
                new CallResult.Arrived(CallResult.Counted.NOT, new long[0], new int[0]),
                new CallResult.Usage(-1, -1, -1),
                Optional.empty(),
                Optional.of("refused"));
        LoadResult run = new LoadResult(
                START_NANOS, START_NANOS + 4, true, List.of(refused), ClientCost.NONE, Oddities.NONE, List.of());
        Environment environment = new Environment(
                "jdk", Optional.empty(), OptionalInt.empty(), Optional.empty(), Optional.empty(), Optional.empty(), 0);
        ServeResult.About about = new ServeResult.About(
                Map.of(),
                List.of(),
                Map.of(),
                environment,
                List.of(99.0),
                Objectives.NONE,
                List.of(),
                Map.of(),
                Optional.empty());
        RunValidity validity = new RunValidity(List.of(), List.of(), List.of(), OptionalDouble.empty());
        assertThat(ServeResult.of(run, validity, Optional.empty(), Instant.EPOCH, about)
                        .roseinfer()
                        .requests())
                .singleElement()
                .extracting(ServeResult.Request::call)
                .extracting(CallResult::times)
                .isEqualTo(new CallResult.Times(1, 2, 3, 0, 4));
    }
}
