package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.cuda.RequiresCuda;
import io.roseinfer.base.StrictJson;
import io.roseinfer.cli.CliRunner.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Tests of the command line on a GPU: flags, notes and messages for unsupported settings. */
@RequiresCuda
class CudaCommandTest {
    private static Outcome bench(String... flags) {
        List<String> args = new ArrayList<>(List.of("bench", "--num-requests", "4", "--max-new-tokens", "8"));
        args.addAll(List.of(flags));
        if (!args.contains("--device")) {
            args.addAll(List.of("--device", "cuda"));
        }
        return CliRunner.run(args.toArray(String[]::new));
    }

    /** Returns the messages except the note about the machine's other work, which may appear in any run. */
    private static List<String> lines(String err) {
        return err.lines()
                .filter(line -> !line.startsWith("roseinfer: the machine was busy: "))
                .toList();
    }

    @ParameterizedTest
    @CsvSource({
        "--device, cuda:99, 4, device cuda:99 does not exist; visible are 0 to ",
        "--kv-blocks, 100000000, 5, 100000000 KV blocks of 16 tokens need ",
        "--kv-blocks, 1, 2, and the pool has 1; raise --kv-blocks",
        "--dtype, int8, 3, 'has layer norms; int8 weights on cuda are for models with RMS norms, gated MLPs'",
        "--dtype, int4, 2, dtype int4 is not available on cuda"
    })
    void bench_flag_unsupported_by_the_device_is_reported_in_one_line(
            String flag, String value, int code, String message) {
        Outcome outcome = bench(flag, value, "--prompt", "one two three four five six seven eight nine ten");
        assertThat(lines(outcome.err())).singleElement().asString().contains(message);
        assertThat(outcome.code()).isEqualTo(code);
    }

    @Test
    void bench_notes_missing_paged_attention() {
        Outcome outcome = bench("--no-paged-attn");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out()).contains("Paged attention: False");
    }

    @Test
    void bench_nvtx_notes_a_missing_profiler() {
        Outcome outcome = bench("--nvtx");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.err()).contains("NVTX_INJECTION64_PATH is not set");
        assertThat(outcome.out()).contains("NVTX: False");
    }

    @Test
    void results_have_the_gpu_and_its_effective_settings(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("run.json");
        Outcome outcome = bench("--json", file.toString());
        assertThat(outcome.code()).as(outcome.err()).isZero();
        JsonNode document = StrictJson.parse(Files.readAllBytes(file));
        String gpu = document.at("/environment/gpu").stringValue();
        assertThat(CliRunner.run("doctor", "--device", "cpu").out()).contains("CUDA backend   " + gpu + ", compute");
        assertThat(document.at("/settings/device").stringValue()).isEqualTo("cuda");
        assertThat(document.at("/settings/dtype").stringValue()).isIn("fp16", "bf16");
        assertThat(document.at("/settings/threads").isNull()).isTrue();
        assertThat(document.at("/settings/kv_blocks").intValue())
                .isEqualTo(document.at("/runs/0/kv/blocks_total").intValue());
    }

    @Test
    void threads_without_effect_are_noted() {
        assertThat(lines(bench("--threads", "1", "--warmup-runs", "0").err()))
                .singleElement()
                .asString()
                .contains("--threads 1 has no effect on cuda");
    }

    @Test
    void device_auto_gives_the_reason_for_not_using_the_gpu() {
        Outcome outcome = CliRunner.run(
                "bench", "--threads", "1", "--num-requests", "1", "--max-new-tokens", "2", "--warmup-runs", "0");
        assertThat(lines(outcome.err())).singleElement().asString().contains("device auto is cpu: a number of threads");
    }
}
