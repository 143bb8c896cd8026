package io.roseinfer.bench.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.bench.http.CallResult.Arrived;
import io.roseinfer.bench.http.CallResult.Counted;
import io.roseinfer.bench.http.CallResult.Times;
import io.roseinfer.bench.http.CallResult.Usage;
import io.roseinfer.metrics.Summary;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunValidityTest {
    private static final RunValidity.Rules RULES = new RunValidity.Rules(1, 1, true, false, Optional.empty());

    private static final long MILLI = 1_000_000;

    /** Returns request i: due at i · 10 ms, sent {@code lagMillis} later, with 6 prompt and 4 output tokens. */
    private static CallResult call(int id, double lagMillis, Usage usage) {
        long due = id * 10L * MILLI;
        long sent = due + Math.round(lagMillis * MILLI);
        long[] nanos = {sent + 20 * MILLI, sent + 21 * MILLI, sent + 22 * MILLI, sent + 23 * MILLI};
        return new CallResult(
                id,
                6,
                4,
                new Times(due, due, sent, nanos[3], nanos[3]),
                new Arrived(Counted.IDS, nanos, new int[] {1, 1, 1, 1}),
                usage,
                Optional.empty(),
                Optional.empty());
    }

    private static LoadResult run(int requests, IntFunction<CallResult> call) {
        return new LoadResult(
                0,
                requests * 10L * MILLI,
                true,
                IntStream.range(0, requests).mapToObj(call).toList(),
                ClientCost.NONE,
                Oddities.NONE,
                List.of());
    }

    private static LoadResult punctual(Usage usage) {
        return run(200, id -> call(id, 0.05, usage));
    }

    @Test
    void prompt_tokens_in_the_prefix_cache_are_noted() {
        ServerStamps stamps =
                new ServerStamps(0, 0, 0, 0, new long[0], new long[0], new long[0], new ServerStamps.Served(0, 4));
        LoadResult run = run(10, id -> {
            CallResult plain = call(id, 0, new Usage(6, 4, 10));
            return new CallResult(
                    id,
                    plain.promptTokens(),
                    plain.askedTokens(),
                    plain.times(),
                    plain.arrivals(),
                    plain.usage(),
                    id < 5 ? Optional.of(stamps) : Optional.empty(),
                    Optional.empty());
        });
        assertThat(RunValidity.of(run, RULES).notes())
                .singleElement()
                .asString()
                .startsWith("20 of 60 prompt tokens were in the server's prefix cache");
    }

    @Test
    void punctual_client_and_consistent_server_are_valid() {
        RunValidity verdict = RunValidity.of(punctual(new Usage(6, 4, 10)), RULES);
        assertThat(verdict.reasons()).isEmpty();
        assertThat(verdict.notes()).isEmpty();
        assertThat(verdict.isValid()).isTrue();
    }

    @Test
    void late_client_makes_a_run_invalid() {
        LoadResult run = run(200, id -> call(id, id % 20 == 0 ? 3 : 0.05, new Usage(6, 4, 10)));
        assertThat(RunValidity.of(run, RULES).reasons())
                .singleElement()
                .asString()
                .startsWith("the client was late: p99 dispatch lag is 3.000 ms");
    }

    private static final LoadResult LATE = run(200, id -> call(id, id % 20 == 0 ? 3 : 0.05, new Usage(6, 4, 10)));

    private static List<String> remedies(LoadResult run, boolean hasEngine, double floorLagMillis) {
        ClientBaseline floor = new ClientBaseline(1e5, Summary.of(floorLagMillis), Summary.of(0.1));
        return RunValidity.of(run, new RunValidity.Rules(1, 1, true, hasEngine, Optional.of(floor)))
                .remedies();
    }

    @Test
    void late_client_is_advised_to_use_separate_cores() {
        assertThat(remedies(LATE, true, 0.1))
                .hasSize(2)
                .first()
                .asString()
                .isEqualTo(
                        "leave a core to the client: set --threads below the number of cores, and stop other processes");
        assertThat(remedies(LATE, false, 0.1)).hasSize(2).first().asString().contains("another machine");
    }

    @Test
    void late_client_baseline_suggests_stopping_other_processes() {
        assertThat(remedies(LATE, true, 2.5))
                .hasSize(3)
                .first()
                .asString()
                .startsWith("the client baseline is late too: stop other processes");
    }

    @Test
    void jit_compilation_over_a_tenth_of_the_run_suggests_a_longer_warm_up() {
        LoadResult cold = new LoadResult(
                0, LATE.endNanos(), true, LATE.calls(), new ClientCost(0, 0, 0, 201, 0), Oddities.NONE, List.of());
        assertThat(LATE.seconds()).isEqualTo(2);
        assertThat(remedies(cold, true, 0.1)).contains("the JVM was still compiling: increase --warmup-requests");
    }

    @Test
    void punctual_client_has_no_remedies() {
        assertThat(remedies(punctual(new Usage(7, 4, 11)), true, 2.5)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"19, true, false, true", "21, true, false, false", "21, false, false, false", "21, true, true, true"})
    void client_pause_makes_a_run_invalid_unless_the_engine_paused_too(
            long pauseMillis, boolean scheduled, boolean hasEngine, boolean valid) {
        LoadResult run = punctual(new Usage(6, 4, 10));
        ClientCost cost = new ClientCost(0, 0, 0, 0, pauseMillis * MILLI);
        RunValidity verdict = RunValidity.of(
                new LoadResult(0, run.endNanos(), scheduled, run.calls(), cost, Oddities.NONE, List.of()),
                new RunValidity.Rules(2, 0, false, hasEngine, Optional.empty()));
        assertThat(verdict.isValid()).isEqualTo(valid);
        assertThat(String.join("", verdict.reasons())).contains(valid ? "" : "paused for 21.000 ms");
        assertThat(verdict.remedies().isEmpty()).isEqualTo(valid);
    }

    @Test
    void cached_tokens_of_usage_are_a_note_without_timestamps() {
        assertThat(RunValidity.of(punctual(new Usage(6, 4, 10, 5)), RULES).notes())
                .singleElement()
                .asString()
                .startsWith("1000 of 1200 prompt tokens were in the server's prefix cache");
    }

    @Test
    void engine_without_cache_hits_needs_a_flag_and_not_another_seed() {
        RunValidity.Rules inProcess = new RunValidity.Rules(2, 0, false, true, Optional.empty());
        assertThat(RunValidity.of(punctual(new Usage(6, 4, 10, 5)), inProcess).notes())
                .containsExactly(
                        "1000 of 1200 prompt tokens were in the prefix cache and not computed; to measure without hits,"
                                + " add --no-prefix-cache");
    }

    @Test
    void one_stall_makes_a_run_invalid() {
        LoadResult run = run(200, id -> call(id, id == 77 ? 15 : 0.05, new Usage(6, 4, 10)));
        assertThat(RunValidity.of(run, RULES).reasons())
                .singleElement()
                .asString()
                .startsWith("the client stalled: a request was sent 15.000 ms late");
    }

    @Test
    void accumulated_lateness_makes_a_run_invalid() {
        LoadResult run = run(200, id -> call(id, id * 0.2, new Usage(6, 4, 10)));
        assertThat(run.achievedRate()).isLessThan(0.99 * run.scheduledRate());
        assertThat(RunValidity.of(run, RULES).reasons())
                .singleElement()
                .asString()
                .startsWith("the client was late: p99 dispatch lag is 39.402 ms");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "7 | 4 | 11 | usage is 7 prompt tokens, but 6 were sent",
                "6 | 5 | 11 | usage is 5 tokens, but it sent 4 ids",
                "6 | 4 | 11 | usage is 6 and 4 tokens, but a total of 11"
            })
    void wrong_usage_makes_a_run_invalid(int prompt, int completion, int total, String reason) {
        assertThat(RunValidity.of(punctual(new Usage(prompt, completion, total)), RULES)
                        .reasons())
                .containsExactly("the server's counts are wrong for 200 of 200 requests: request 0: " + reason);
    }

    @Test
    void one_wrong_usage_among_many_makes_a_run_invalid() {
        LoadResult run = run(200, id -> call(id, 0.05, id == 150 ? new Usage(5, 4, 9) : new Usage(6, 4, 10)));
        assertThat(RunValidity.of(run, RULES).reasons())
                .containsExactly("the server's counts are wrong for 1 of 200 requests: request 150:"
                        + " usage is 5 prompt tokens, but 6 were sent");
    }

    @Test
    void early_end_is_invalid_only_with_a_fixed_length() {
        LoadResult run = run(200, id -> {
            CallResult whole = call(id, 0.05, new Usage(6, 4, 10));
            return new CallResult(
                    id, 6, 5, whole.times(), whole.arrivals(), whole.usage(), whole.server(), whole.error());
        });
        assertThat(RunValidity.of(run, new RunValidity.Rules(1, 1, false, false, Optional.empty()))
                        .isValid())
                .isTrue();
        assertThat(RunValidity.of(run, RULES).reasons())
                .singleElement()
                .asString()
                .contains("it sent 4 tokens, but 5");
    }

    /** Returns a run in which {@code requests} of 200 requests fail. */
    private static LoadResult failing(int requests) {
        return run(200, id -> {
            CallResult whole = call(id, 0.05, new Usage(6, 4, 10));
            return id >= requests
                    ? whole
                    : new CallResult(
                            id,
                            6,
                            4,
                            whole.times(),
                            whole.arrivals(),
                            new Usage(9, 9, 9),
                            Optional.empty(),
                            Optional.of("cut"));
        });
    }

    @Test
    void failed_requests_are_noted_and_excluded() {
        LoadResult run = failing(100);
        RunValidity verdict = RunValidity.of(run, RULES);
        assertThat(verdict.isValid()).isTrue();
        assertThat(verdict.notes()).containsExactly("100 of 200 requests failed, first error: cut");
        assertThat(LatencyTable.ttft(run).size()).isEqualTo(100);
    }

    @ParameterizedTest
    @CsvSource({"0.01, 2, true", "0.01, 3, false", "0, 0, true", "0, 1, false", "1, 199, true", "1, 200, false"})
    void run_with_too_many_failures_is_invalid(double most, int failed, boolean counts) {
        RunValidity verdict =
                RunValidity.of(failing(failed), new RunValidity.Rules(1, most, true, false, Optional.empty()));
        assertThat(verdict.isValid()).isEqualTo(counts);
        assertThat(verdict.reasons()).allSatisfy(reason -> assertThat(reason).contains("first error: cut"));
    }

    @Test
    void wait_for_the_concurrency_limit_is_not_dispatch_lag() {
        LoadResult run = run(200, id -> {
            CallResult whole = call(id, 50, new Usage(6, 4, 10));
            Times times = whole.times();
            Times held = new Times(
                    times.dueNanos(), times.sentNanos(), times.sentNanos(), times.lastChoiceNanos(), times.endNanos());
            return new CallResult(id, 6, 4, held, whole.arrivals(), whole.usage(), whole.server(), whole.error());
        });
        RunValidity verdict = RunValidity.of(run, RULES);
        assertThat(verdict.isValid()).isTrue();
        assertThat(verdict.notes()).singleElement().asString().startsWith("200 requests waited in the client");
        assertThat(LatencyTable.fromDue(run))
                .hasEntrySatisfying(
                        "ttft_intended",
                        values -> assertThat(Summary.of(values)).isEqualTo(new Summary(200, 70, 70, 70, 70, 70)));
    }

    @ParameterizedTest
    @CsvSource({"10, true", "11, false"})
    void short_completion_is_explained_by_the_context_only_if_it_ends_there(int context, boolean isExplained) {
        LoadResult run = run(1, id -> {
            CallResult whole = call(id, 0.05, new Usage(6, 4, 10));
            return new CallResult(
                    id, 6, 5, whole.times(), whole.arrivals(), whole.usage(), whole.server(), whole.error());
        });
        RunValidity.Rules rules = new RunValidity.Rules(1, 1, true, false, Optional.empty(), OptionalInt.of(context));
        assertThat(RunValidity.of(run, rules).reasons())
                .singleElement()
                .asString()
                .contains(isExplained ? "ended at the model's context of 10 tokens" : "it sent 4 tokens, but 5");
    }
}
