package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests a signal during the output of the command, in a separate process. */
@Tag("process")
@Timeout(60)
@EnabledOnOs(value = OS.LINUX, disabledReason = "needs env --default-signal")
class InterruptTest {
    /** More text than a pipe holds, so only the signal ends an unread completion. */
    private static final int NEW_TOKENS = 60_000;

    @TempDir
    private Path directory;

    private Process generate(String signal) throws Exception {
        Path config = Files.writeString(directory.resolve("config.json"), """
                {"model_type":"gpt2","n_embd":2,"n_head":1,"n_layer":1,"vocab_size":50257,"n_positions":%d}""".formatted(NEW_TOKENS + 10));
        return new ProcessBuilder(CommandJvm.withDefaultSignals(
                        signal,
                        "generate",
                        "--device=sim",
                        "--model=random:" + config,
                        "--prompt=Once",
                        "--no-stop-on-eos",
                        "--max-new-tokens=" + NEW_TOKENS))
                .start();
    }

    @ParameterizedTest
    @CsvSource({"INT, 130", "TERM, 143"})
    void signal_during_output_ends_the_line_and_sets_the_exit_code(String signal, int code) throws Exception {
        Process process = generate(signal);
        try (InputStream out = process.getInputStream()) {
            assertThat(out.read()).isNotNegative();
            new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
                    .start()
                    .waitFor();
            assertThat(new String(out.readAllBytes(), StandardCharsets.UTF_8)).endsWith("\n");
            assertThat(process.waitFor()).isEqualTo(code);
            assertThat(new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8))
                    .isEmpty();
        } finally {
            process.destroyForcibly();
        }
    }
}
