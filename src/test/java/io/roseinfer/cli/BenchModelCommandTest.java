package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.cli.CliRunner.Outcome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

class BenchModelCommandTest {
    @TempDir
    Path folder;

    @Test
    void each_model_shape_prints_one_line() {
        Outcome outcome = CliRunner.run(
                "bench",
                "model",
                "--model",
                "random:gpt2",
                "--device",
                "sim",
                "--prefill",
                "32,4x8",
                "--decode",
                "1,3",
                "--decode-steps",
                "4",
                "--warmup-ms",
                "0");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out())
                .startsWith("=== model benchmark ===\nModel: random:gpt2, dtype none\n")
                .contains("\nRuns: 5, after at least 3 and 0.0 s to warm up; medians\n");
        assertThat(outcome.out().lines().skip(6))
                .extracting(line -> line.replaceAll("  .*", ""))
                .containsExactly("prefill 1x32", "prefill 4x8", "decode 1", "decode 3");
    }

    @Test
    void printed_model_numbers_equal_the_json() throws IOException {
        Path file = folder.resolve("model.json");
        Outcome outcome = CliRunner.run(
                ("bench model --model random:gpt2 --device sim --prefill 4x8 --decode 3 --repeat-runs 3 --json " + file)
                        .split(" "));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        JsonNode document = SimBench.read(file);
        List<String> lines = SimBench.elements(document.at("/points"))
                .map(BenchModelCommandTest::line)
                .toList();
        assertThat(lines).hasSize(2);
        assertThat(outcome.out().lines().skip(6)).containsExactlyElementsOf(lines);
        assertThat(document.at("/settings/decode").stringValue()).isEqualTo("3");
        assertThat(document.at("/settings/block_size").intValue()).isEqualTo(16);
        assertThat(document.at("/settings").has("prefill_max_batch_size")).isFalse();
        assertThat(document.at("/environment/jdk").stringValue()).isNotEmpty();
    }

    private static String line(JsonNode point) {
        double[] millis = SimBench.elements(point.at("/run_ms"))
                .mapToDouble(JsonNode::doubleValue)
                .sorted()
                .toArray();
        assertThat(millis).hasSize(3);
        int rows = point.at("/rows").intValue();
        int tokens = point.at("/tokens").intValue();
        String kind = point.at("/kind").stringValue();
        return String.format(
                Locale.ROOT,
                "%-16s %10.3f %10.3f %10.3f %12.1f",
                kind + " " + rows + (kind.equals("prefill") ? "x" + tokens : ""),
                millis[1],
                millis[0],
                millis[2],
                rows * tokens * 1e3 / millis[1]);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "--prefill=0; is not TOKENS or ROWSxTOKENS",
                "--prefill=4x; is not TOKENS or ROWSxTOKENS",
                "--decode=4x8; is not a number of rows",
                "--decode=none --prefill=none; leaves nothing to measure",
                "--decode=1 --context=1024; smaller --context",
                "--prefill=none --decode=1 --context=2147483647; decode 1 needs 2147483711 tokens per row",
                "--prefill=65536x1024; prefill 65536x1024 has 67108864 tokens; a step takes at most"
            })
    void invalid_shape_is_rejected_in_one_line(String flags, String message) {
        String[] given = ("bench model --model random:gpt2 --device sim " + flags).split(" ");
        Outcome outcome = CliRunner.run(given);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains(message).hasLineCount(1);
    }
}
