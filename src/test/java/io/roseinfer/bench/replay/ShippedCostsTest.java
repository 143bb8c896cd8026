package io.roseinfer.bench.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.ObjectNode;

class ShippedCostsTest {
    private static LoadResult run(boolean chunked) {
        HostTimes host = new HostTimes(10, 200, List.of(3_000L), List.of(40_000L), List.of(70_000L));
        return SimulatedRuns.server(
                        new StepTimes(SimulatedRuns.costs(), Pace.EVEN, host),
                        SchedulerOptions.builder().maxBatchSize(8).chunkedPrefill(chunked),
                        Integer.MAX_VALUE,
                        2,
                        0)
                .run(SimulatedRuns.load(300, 60, 5));
    }

    @Test
    void costs_of_recorded_runs_match_their_steps() {
        List<RecordedRun> runs = List.of(SimulatedRuns.recorded(run(false)), SimulatedRuns.recorded(run(true)));
        ObjectNode made = RecordCosts.costs(runs);
        made.put("gpu", "A GPU").put("model", "random:shape").put("dtype", "bf16");
        made.put("date", "2026-11-28").put("commit", "0123456789abcdef");
        StepCosts costs = ShippedCosts.of(made);
        assertThat(costs.description(List.of()))
                .isEqualTo(
                        "costs: A GPU, shape in bf16, recorded 2026-11-28 at 01234567, not this machine, not validated against"
                                + " real runs");
        assertThat(costs.inFlight()).isEqualTo(2);
        assertThat(costs.times().host().later()).hasSize(16).containsOnly(70_000L);
        for (RecordedRun run : runs) {
            for (StepRecord step : run.result().steps()) {
                StepShape shape = StepShape.of(step);
                double truth = SimulatedRuns.costs().nanos(shape);
                assertThat(costs.times().costs().nanos(shape)).as("%s", shape).isCloseTo(truth, within(0.03 * truth));
                assertThat(costs.times().costs().range().contains(shape)).isTrue();
            }
        }
    }

    @Test
    void shipped_costs_name_their_model_and_cover_their_range() {
        assertThat(ShippedCosts.nameFor("random:qwen3-0.6b")).contains("h200-qwen3-0.6b");
        assertThat(ShippedCosts.nameFor("builtin:tiny")).isEmpty();
        StepCosts costs = ShippedCosts.load("h200-qwen3-0.6b");
        StepRange range = costs.times().costs().range();
        assertThat(costs.source()).startsWith("costs: NVIDIA ").endsWith(", not this machine");
        assertThat(costs.kvBlocks()).isPositive();
        assertThat(range.decode().maxTokens()).isEqualTo(256);
        assertThat(range.prompts().maxTokens()).isGreaterThanOrEqualTo(8192);
        assertThat(costs.times().costs().nanos(new StepShape(1, 1, 0, 100, 100)))
                .isBetween(1e5, 1e7);
    }

    /** The recording of the 8B shape has too few mixed steps to fit them apart. */
    @Test
    void mixed_steps_that_were_not_measured_have_no_function() {
        assertThat(ShippedCosts.load("h100-llama-3.1-8b").times().costs())
                .isInstanceOfSatisfying(
                        CostTable.class, costs -> assertThat(costs.mixed()).isEmpty());
        assertThat(ShippedCosts.load("h100-llama-3.2-1b").times().costs())
                .isInstanceOfSatisfying(
                        CostTable.class, costs -> assertThat(costs.mixed()).isPresent());
    }

    @Test
    void every_shipped_cost_covers_256_rows_and_increases_with_rows() {
        for (String name : ShippedCosts.names()) {
            StepCosts costs = ShippedCosts.load(name);
            assertThat(costs.source()).as(name).startsWith("costs: ").contains(", not this machine");
            assertThat(costs.times().costs().range().decode().maxTokens())
                    .as(name)
                    .isEqualTo(256);
            assertThat(costs.times().costs().nanos(new StepShape(64, 64, 0, 16_384, 256)))
                    .as(name)
                    .isGreaterThan(costs.times().costs().nanos(new StepShape(1, 1, 0, 256, 256)));
        }
    }

    @Test
    void costs_give_their_largest_error_against_real_runs_or_are_not_validated() {
        assertThat(ShippedCosts.load("h100-llama-3.2-1b").description(List.of()))
                .endsWith(
                        ", largest error against real runs: TTFT 10.2 %, TPOT 7.3 %; no compared run measured ITL and E2EL (p50, p90 and p99 in nine runs of"
                                + " another seed, of prompts + outputs of 256 + 64, 128 + 96 with 1,000 + 48, and conversations"
                                + " of 128 + 96 tokens, at 30, 60 and 85 % load)");
        assertThat(ShippedCosts.load("h200-qwen3-0.6b").description(List.of()))
                .endsWith(
                        ", recorded 2026-11-29 at d9bd6e21, not this machine, largest error against real runs: TTFT 21.1 %, TPOT 11.8 %, ITL 9.6 %, E2EL 6.4 % (p50,"
                                + " p90 and p99 in 25 runs of other seeds on three GPUs, of prompts + outputs"
                                + " of 256 + 64, 512 + 256, 300 + 400, 400 + 150, 128 + 128 with 2,000 + 64 and 16,000 + 32, 220 + 180 with 2,400 + 120,"
                                + " and 128 + 96 with 1,100 + 48 tokens, three of these at 30 to 85 % load, the last also with three policies, and with"
                                + " three routings on two engines)");
        assertThat(ShippedCosts.names())
                .filteredOn(name -> ShippedCosts.load(name).validation().equals(StepCosts.Validation.MISSING))
                .containsExactlyInAnyOrder("h100-llama-3.1-8b", "h100-gpt2");
    }

    @ParameterizedTest
    @CsvSource({
        "h100-qwen3-0.6b, 8, 7, ",
        "h100-qwen3-0.6b, 8, 8, 32 to 256",
        "h100-qwen3-0.6b, 32, 32, ",
        "h100-qwen3-0.6b, 64, 64, ",
        "h100-qwen3-0.6b, 256, 300, ",
        "h100-qwen3-0.6b, 512, 256, ",
        "h100-qwen3-0.6b, 512, 257, 32 to 256",
        "h200-gpt2, 64, 64, 256",
        "h100-gpt2, 64, 64, "
    })
    void batch_limit_that_affects_a_run_is_like_that_of_a_compared_run(
            String costs, int limit, int active, @Nullable String compared) {
        assertThat(ShippedCosts.load(costs).batchBeyondValidation(limit, active))
                .isEqualTo(Optional.ofNullable(compared)
                        .map(runs -> "--max-batch-size " + limit + " (compared runs: " + runs + ")"));
    }

    @Test
    void every_stated_error_has_the_batch_limits_of_its_runs() {
        assertThat(ShippedCosts.names())
                .map(name -> ShippedCosts.load(name).validation())
                .filteredOn(validation -> !validation.equals(StepCosts.Validation.MISSING))
                .allSatisfy(validation ->
                        assertThat(validation.batches()).hasSize(2).isSorted());
    }

    @ParameterizedTest
    @CsvSource({
        "h200-qwen3-0.6b, 212, 4, 45500, 900, ",
        "h200-qwen3-0.6b, 213.3, 4, 1, 1, a mean of 213.3 requests on an engine (compared runs: up to 141.8)",
        "h200-qwen3-0.6b, 32.5, 4.96, 1, 1, ",
        "h100-qwen3-0.6b, 32.5, 5.38, 1, 1, a mean of 5.4 waiting requests on an engine (compared runs: up to 3.1)",
        "h200-qwen3-0.6b, 1, 1, 45600, 1, prompts of up to 45600 tokens (compared runs: 30376)",
        "h200-qwen3-0.6b, 1, 1, 16, 1500, outputs of up to 1500 tokens (compared runs: 600)",
        "h100-llama-3.2-1b, 1, 1, 44400, 1500, ",
        "h100-gpt2, 1000, 900, 44400, 1500, "
    })
    void load_beyond_that_of_every_compared_run_is_named(
            String costs, double requests, double waiting, int prompt, int output, @Nullable String beyond) {
        assertThat(ShippedCosts.load(costs).loadBeyondValidation(new EngineLoad(requests, waiting, prompt, output)))
                .isEqualTo(Optional.ofNullable(beyond).stream().toList());
    }

    @Test
    void every_stated_error_has_the_load_of_its_busiest_run() {
        assertThat(ShippedCosts.names())
                .map(name -> ShippedCosts.load(name).validation())
                .filteredOn(validation -> !validation.equals(StepCosts.Validation.MISSING))
                .allSatisfy(validation -> assertThat(validation.busiest().requests())
                        .isGreaterThan(validation.busiest().waiting()))
                .allSatisfy(
                        validation -> assertThat(validation.busiest().waiting()).isPositive());
    }

    @Test
    void stated_errors_name_the_lengths_of_their_runs() {
        assertThat(ShippedCosts.names())
                .map(name -> ShippedCosts.load(name).validation())
                .filteredOn(validation -> !validation.equals(StepCosts.Validation.MISSING))
                .hasSize(6)
                .allSatisfy(
                        validation -> assertThat(validation.stated().words()).contains("256 + 64", " tokens"));
    }

    @Test
    void mixed_step_costs_at_least_its_decode_rows_and_its_prompts() {
        for (String name : ShippedCosts.names()) {
            CostModel costs = ShippedCosts.load(name).times().costs();
            for (int rows : new int[] {1, 16, 64, 255}) {
                for (int prompt : new int[] {16, 128, 1024}) {
                    for (long context : new long[] {20, 300, 1500}) {
                        StepShape decode = new StepShape(rows, rows, 0, rows * context, context);
                        StepShape alone = new StepShape(1, prompt, prompt, prompt * (prompt + 1L) / 2, 0);
                        StepShape mixed = new StepShape(
                                rows + 1,
                                rows + prompt,
                                prompt,
                                decode.attended() + alone.attended(),
                                decode.attended(),
                                context,
                                0);
                        assertThat(costs.nanos(mixed))
                                .as("%s: %s", name, mixed)
                                .isGreaterThanOrEqualTo(Math.max(costs.nanos(decode), costs.nanos(alone)));
                    }
                }
            }
        }
    }

    @Test
    void decode_steps_with_more_kv_tokens_than_every_recording_are_extrapolated() {
        for (String name : ShippedCosts.names()) {
            StepRange range = ShippedCosts.load(name).times().costs().range();
            int rows = range.decode().maxTokens();
            assertThat(range.contains(new StepShape(rows, rows, 0, rows * 256L, 256)))
                    .as(name)
                    .isTrue();
            assertThat(range.contains(new StepShape(rows, rows, 0, rows * range.maxContext(), range.maxContext())))
                    .as(name)
                    .isFalse();
        }
    }

    @Test
    void costs_of_an_invalid_run_name_the_reason() {
        RecordedRun run = SimulatedRuns.recorded(run(false));
        RunValidity late =
                new RunValidity(List.of("the client was late"), List.of(), List.of(), OptionalDouble.empty());
        RecordedRun invalid = new RecordedRun(
                "late.json",
                run.command(),
                run.result(),
                run.kvBlocks(),
                late,
                RecordedModel.NONE,
                "A GPU, 2026-11-28");
        assertThat(StepCosts.of(List.of(run, invalid)).source())
                .isEqualTo(
                        "step costs of run (300 requests), late.json (300 requests, A GPU, 2026-11-28), which is marked invalid: the client was late");
    }
}
