package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.cli.CliRunner.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BenchModelCommandTest {
    @Test
    void model_shapes_areALineEach() {
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

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "--prefill=0; is not TOKENS or ROWSxTOKENS",
                "--prefill=4x; is not TOKENS or ROWSxTOKENS",
                "--decode=4x8; is not a number of rows",
                "--decode=none --prefill=none; leaves nothing to measure",
                "--decode=1 --context=1024; less --context",
                "--prefill=none --decode=1 --context=2147483647; decode 1 comes to 2147483711 tokens a row",
                "--prefill=65536x1024; prefill 65536x1024 is 67108864 tokens; a step takes at most"
            })
    void model_wrongShape_isRefusedInOneLine(String flags, String message) {
        String[] given = ("bench model --model random:gpt2 --device sim " + flags).split(" ");
        Outcome outcome = CliRunner.run(given);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains(message).hasLineCount(1);
    }
}
