package io.roseinfer.bench;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * The warm-up before the measured runs.
 *
 * @param runs number of warm-up runs, of which the last may have been ended by the time limit
 * @param seconds their duration
 * @param steady whether the last two runs were equally fast and the JIT compilers nearly idle; only if the number of runs was not given
 * @param difference relative difference of the median latencies of the last two complete runs; only if the number was not given
 */
public record WarmUp(
        int runs,
        double seconds,
        @JsonInclude(Include.NON_ABSENT) Optional<Boolean> steady,
        @JsonInclude(Include.NON_ABSENT) OptionalDouble difference) {}
