package io.roseinfer.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.ClientCost;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.Oddities;
import io.roseinfer.bench.http.ServerStamps;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.WritableStep;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class AttributionTest {
    private static final long MILLI = 1_000_000;

    private static WritableStep step(long number, long startMillis, long millis, int prefillTokens) {
        WritableStep step = new WritableStep();
        step.set(Fact.STEP, number);
        step.set(Fact.START_NANOS, startMillis * MILLI);
        step.set(Fact.DEVICE_NANOS, (millis - 1) * MILLI);
        step.set(Fact.APPLY_NANOS, MILLI);
        step.set(Fact.PREFILL_TOKENS, prefillTokens);
        return step;
    }

    private static long[] millis(long... millis) {
        return Arrays.stream(millis).map(value -> value * MILLI).toArray();
    }

    /** Due at 0 ms, sent at 2 ms; step 7, from 10 to 30 ms, computes its prompt; steps 7, 8 and 10 yield its tokens. */
    private static CallResult call(ServerStamps stamps) {
        return new CallResult(
                3,
                16,
                3,
                new CallResult.Times(0, 0, 2 * MILLI, 95 * MILLI, 96 * MILLI),
                new CallResult.Arrived(CallResult.Counted.IDS, millis(40, 50, 95), new int[] {1, 1, 1}),
                new CallResult.Usage(16, 3, 19),
                Optional.of(stamps),
                Optional.empty());
    }

    private static final ServerStamps.Served FIRST = new ServerStamps.Served(0, 0);
    private static final ServerStamps ALL = new ServerStamps(
            3 * MILLI,
            5 * MILLI,
            6 * MILLI,
            10 * MILLI,
            millis(30, 41, 90),
            millis(32, 42, 91),
            millis(35, 43, 92),
            FIRST);

    private static final List<StepRecord> STEPS =
            List.of(step(7, 10, 20, 16), step(8, 31, 10, 0), step(9, 42, 30, 64), step(10, 73, 17, 0));

    private static LoadResult run(ServerStamps stamps) {
        return new LoadResult(0, 100 * MILLI, true, List.of(call(stamps)), ClientCost.NONE, Oddities.NONE, STEPS);
    }

    @Test
    void ttft_components_are_differences_of_timestamps() {
        BreakdownTable table = Attribution.of(run(ALL)).firstToken();
        assertThat(table.samples()).isEqualTo(1);
        assertThat(table.all())
                .containsExactly(
                        entry("dispatch", 2.0),
                        entry("send", 1.0),
                        entry("parse", 2.0),
                        entry("tokenize", 1.0),
                        entry("queue", 4.0),
                        entry("prefill", 19.0),
                        entry("sample", 1.0),
                        entry("deliver", 2.0),
                        entry("write", 3.0),
                        entry("read", 5.0),
                        entry("unattributed", 0.0));
        assertThat(table.median()).isEqualTo(table.all());
        assertThat(table.tail()).isEqualTo(table.all());
    }

    @Test
    void queue_and_prefill_are_omitted_without_an_admission_time() {
        ServerStamps unadmitted = new ServerStamps(
                ALL.receivedNanos(),
                ALL.parsedNanos(),
                ALL.tokenizedNanos(),
                ServerStamps.UNKNOWN,
                ALL.tokenNanos(),
                ALL.readNanos(),
                ALL.writtenNanos(),
                FIRST);
        assertThat(Attribution.of(run(unadmitted)).firstToken().all())
                .contains(
                        entry("queue", 0.0), entry("prefill", 0.0), entry("unattributed", 23.0), entry("sample", 1.0));
    }

    @Test
    void slices_are_equal_shares_of_samples_sorted_by_total() {
        long[] queue =
                IntStream.range(0, 100).mapToLong(i -> (i * 37) % 100 * MILLI).toArray();
        long[] read = new long[100];
        Arrays.fill(read, MILLI);
        BreakdownTable table = BreakdownTable.of(List.of("queue", "read"), samples(queue, read));
        assertThat(table.slices().get("queue"))
                .isEqualTo(IntStream.range(0, 50).mapToObj(i -> 2 * i + 0.5).toList());
        assertThat(table.slices().get("read")).hasSize(50).containsOnly(1.0);
        assertThat(table.tail()).containsEntry("queue", 98.5);
    }

    @Test
    void part_that_is_negative_by_rounding_alone_has_no_sign() {
        assertThat(BreakdownTable.millis(-1e-7)).isEqualTo("0.000");
        assertThat(BreakdownTable.millis(-0.0005001)).isEqualTo("-0.001");
    }

    @Test
    void table_of_few_samples_has_one_slice_per_sample() {
        BreakdownTable table = BreakdownTable.of(List.of("queue"), samples(millis(3, 1)));
        assertThat(table.slices()).isEqualTo(Map.of("queue", List.of(1.0, 3.0)));
        assertThat(BreakdownTable.of(List.of("queue"), samples(millis())).slices())
                .isEqualTo(Map.of("queue", List.of()));
    }

    /** Returns samples by the nanoseconds of each of their parts. */
    private static BreakdownTable.Samples samples(long[]... parts) {
        return action -> IntStream.range(0, parts[0].length)
                .mapToObj(i -> Arrays.stream(parts).mapToLong(part -> part[i]).toArray())
                .forEach(action);
    }

    @Test
    void equal_totals_are_ranked_in_the_order_of_the_samples() {
        long[] queue = new long[200];
        Arrays.setAll(queue, i -> i * MILLI);
        long[] read = new long[200];
        Arrays.setAll(read, i -> (200 - i) * MILLI);
        BreakdownTable table = BreakdownTable.of(List.of("queue", "read"), samples(queue, read));
        assertThat(table.median()).containsExactly(entry("queue", 99.5), entry("read", 100.5));
        assertThat(table.tail()).containsExactly(entry("queue", 197.5), entry("read", 2.5));
    }

    @Test
    void component_of_a_missing_timestamp_is_included_in_the_next() {
        ServerStamps some = new ServerStamps(
                3 * MILLI,
                ServerStamps.UNKNOWN,
                6 * MILLI,
                10 * MILLI,
                millis(30, 41, 90),
                new long[0],
                new long[0],
                FIRST);
        assertThat(Attribution.of(run(some)).firstToken().all())
                .contains(entry("parse", 0.0), entry("tokenize", 3.0), entry("write", 0.0), entry("read", 10.0));
    }

    @Test
    void timestamps_out_of_order_are_unattributed_and_components_add_up() {
        ServerStamps late = new ServerStamps(
                3 * MILLI,
                5 * MILLI,
                6 * MILLI,
                10 * MILLI,
                millis(30, 41, 90),
                millis(32, 42, 91),
                millis(45, 46, 92),
                FIRST);
        Map<String, Double> parts = Attribution.of(run(late)).firstToken().all();
        assertThat(parts).contains(entry("write", 13.0), entry("read", 0.0), entry("unattributed", -5.0));
        assertThat(BreakdownTable.sum(parts)).isEqualTo(40.0);
    }

    @Test
    void steps_of_another_engine_are_ignored() {
        List<StepRecord> all = new ArrayList<>(STEPS);
        for (long number = 1; number < 100; number++) {
            WritableStep other = step(number, number, 1, 0);
            other.set(Fact.ENGINE, 1);
            all.add(other);
        }
        LoadResult both = new LoadResult(0, 100 * MILLI, true, List.of(call(ALL)), ClientCost.NONE, Oddities.NONE, all);
        assertThat(Attribution.of(both)).isEqualTo(Attribution.of(run(ALL)));
    }

    @Test
    void gap_names_its_longest_step() {
        Attribution attribution = Attribution.of(run(ALL));
        ItlBreakdown.Gap longest = attribution.longest().getFirst();
        assertThat(longest.request()).isEqualTo(3);
        assertThat(longest.token()).isEqualTo(2);
        assertThat(longest.nanos()).isEqualTo(45 * MILLI);
        assertThat(longest.waitedFor().orElseThrow().get(Fact.STEP)).isEqualTo(9);
        Map<String, Double> parts = attribution.gaps().tail();
        assertThat(parts)
                .containsExactly(
                        entry("decode", 17.0), entry("prompts", 30.0), entry("idle", 2.0), entry("delivery", -4.0));
        assertThat(BreakdownTable.sum(parts)).isEqualTo(45.0);
    }

    /** Step 9 computes a long prompt; step 10 is launched immediately and waits on the device. */
    @Test
    void decode_step_excludes_the_wait_for_a_prefill_step_on_the_device() {
        StepRecord waiting = step(10, 43, 47, 0);
        List<StepRecord> steps = List.of(step(7, 10, 20, 16), step(8, 31, 10, 0), step(9, 42, 45, 32_768), waiting);
        LoadResult run =
                new LoadResult(0, 100 * MILLI, true, List.of(call(ALL)), ClientCost.NONE, Oddities.NONE, steps);
        Attribution attribution = Attribution.of(run);
        ItlBreakdown.Gap longest = attribution.longest().getFirst();
        assertThat(longest.waitedFor().orElseThrow().get(Fact.STEP)).isEqualTo(9);
        assertThat(longest.stepNanos()).isEqualTo(45 * MILLI);
        assertThat(attribution.gaps().tail())
                .containsExactly(
                        entry("decode", 3.0), entry("prompts", 45.0), entry("idle", 1.0), entry("delivery", -4.0));
    }

    @Test
    void longest_gap_uses_client_times_and_is_kept_without_steps() {
        LoadResult cut = new LoadResult(
                0, 100 * MILLI, true, List.of(call(ALL)), ClientCost.NONE, Oddities.NONE, STEPS.subList(3, 4));
        Attribution attribution = Attribution.of(cut);
        assertThat(attribution.hasAllSteps()).isFalse();
        assertThat(attribution.gapsWithoutSteps()).isEqualTo(2);
        assertThat(attribution.gaps().samples()).isZero();
        assertThat(attribution.longest()).extracting(ItlBreakdown.Gap::nanos).containsExactly(45 * MILLI, 10 * MILLI);
        assertThat(attribution.longest().getFirst().waitedFor()).isEmpty();
        assertThat(Attribution.of(run(ALL)).hasAllSteps()).isTrue();
        assertThat(Attribution.of(run(ALL)).gapsWithoutSteps()).isZero();
    }

    @Test
    void server_without_timestamps_has_no_breakdown() {
        CallResult silent = new CallResult(
                0,
                1,
                1,
                new CallResult.Times(0, 0, 0, 1, 1),
                new CallResult.Arrived(CallResult.Counted.IDS, new long[] {1}, new int[] {1}),
                new CallResult.Usage(1, 1, 2),
                Optional.empty(),
                Optional.empty());
        LoadResult run = new LoadResult(0, 1, true, List.of(silent), ClientCost.NONE, Oddities.NONE, List.of());
        assertThat(Attribution.of(run).firstToken().samples()).isZero();
        assertThat(Attribution.of(run).longest()).isEmpty();
    }
}
