package io.roseinfer.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.ClientCost;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.Oddities;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.report.Objectives;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the growth of the backlog, on queues at 100 requests/s with seeded random arrivals. */
class BacklogTest {
    private static final double RATE = 100;
    private static final double NANOS_PER_SECOND = 1e9;

    /**
     * Returns the point of a load on a first-come first-served queue.
     *
     * @param capacity requests per second
     * @param latency seconds of each request besides its wait
     */
    private static SweepPoint point(int requests, double capacity, double latency, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<CallResult> calls = new ArrayList<>();
        double due = 0;
        double free = 0;
        double end = 0;
        for (int i = 0; i < requests; i++) {
            due += random.nextExponential() / RATE;
            free = Math.max(due, free) + 1 / capacity;
            end = free + latency;
            calls.add(call(i, due, end));
        }
        long last = nanos(end);
        LoadResult run = new LoadResult(0, last, true, calls, ClientCost.NONE, Oddities.NONE, List.of());
        RunValidity valid = new RunValidity(List.of(), List.of(), List.of(), OptionalDouble.empty());
        return SweepPoint.of(Map.of(Sweep.RATE, "" + RATE), run, valid, Objectives.NONE, List.of());
    }

    private static long nanos(double seconds) {
        return Math.round(seconds * NANOS_PER_SECOND);
    }

    private static CallResult call(int id, double due, double end) {
        return new CallResult(
                id,
                1,
                1,
                new CallResult.Times(nanos(due), nanos(due), nanos(due), nanos(end), nanos(end)),
                new CallResult.Arrived(CallResult.Counted.IDS, new long[] {nanos(end)}, new int[] {1}),
                new CallResult.Usage(1, 1, 2),
                Optional.empty(),
                Optional.empty());
    }

    @ParameterizedTest
    @CsvSource({"10, 4000", "30, 400", "60, 400", "80, 4000"})
    void overloaded_run_is_behind(double capacity, int requests) {
        SweepPoint point = point(requests, capacity, 0.05, 1);
        assertThat(point.keepsUp()).isFalse();
        assertThat(point.isTooShort()).isFalse();
        assertThat(point.metric(SweepPoint.BACKLOG_GROWTH).orElseThrow()).isBetween(0.1, 1.0);
    }

    /** The last requests take 0.5 s after the last arrival, as long as 50 arrivals. */
    @ParameterizedTest
    @ValueSource(ints = {400, 1000, 10_000})
    void latency_of_the_last_requests_is_no_backlog(int requests) {
        for (long seed = 0; seed < 20; seed++) {
            SweepPoint point = point(requests, 1000, 0.5, seed);
            assertThat(point.keepsUp() || point.isTooShort()).isTrue();
        }
        assertThat(point(10_000, 1000, 0.5, 0).keepsUp()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(doubles = {10, 1000})
    void run_shorter_than_its_requests_is_too_short_to_decide(double capacity) {
        SweepPoint point = point(100, capacity, 2, 1);
        assertThat(point.isTooShort()).isTrue();
        assertThat(point.keepsUp()).isFalse();
    }

    @Test
    void needed_requests_are_enough_to_tell() {
        for (long seed = 0; seed < 20; seed++) {
            SweepPoint point = point(100, 1000, 2, seed);
            int needed = (int) point.metric(SweepPoint.NEEDED_REQUESTS).orElseThrow();
            assertThat(point(needed + needed / 4, 1000, 2, seed).keepsUp()).isTrue();
        }
    }

    @Test
    void load_without_times_has_no_backlog() {
        LoadResult run =
                new LoadResult(0, nanos(1), false, List.of(call(0, 0, 1)), ClientCost.NONE, Oddities.NONE, List.of());
        RunValidity valid = new RunValidity(List.of(), List.of(), List.of(), OptionalDouble.empty());
        assertThat(SweepPoint.of(Map.of(), run, valid, Objectives.NONE, List.of())
                        .metric(SweepPoint.BACKLOG_GROWTH))
                .isEqualTo(OptionalDouble.empty());
    }
}
