package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.model.family.ModelDirectory;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Tests Ctrl-C during an answer of {@code roseinfer chat}, in a separate process. */
@Tag("process")
@Timeout(120)
@EnabledOnOs(value = OS.LINUX, disabledReason = "needs env --default-signal")
class ChatInterruptTest {
    /** More tokens than are generated before the signal arrives, and than a pipe holds. */
    private static final int CONTEXT = 60_000;

    @TempDir
    private Path directory;

    private Process chat() throws Exception {
        ModelDirectory.at(directory, "\"n_layer\":1,\"vocab_size\":50257,\"n_positions\":" + CONTEXT)
                .alwaysSaying(1000)
                .write();
        Files.writeString(directory.resolve("chat_template.jinja"), "{{ messages[-1].content }}");
        return new ProcessBuilder(CommandJvm.withDefaultSignals("INT", "chat", "--device=cpu", "--model=" + directory))
                .start();
    }

    @Test
    void interrupt_stops_the_answer_but_not_the_program() throws Exception {
        Process process = chat();
        try (InputStream out = process.getInputStream();
                OutputStream in = process.getOutputStream()) {
            in.write("Hello\n".getBytes(StandardCharsets.UTF_8));
            in.flush();
            assertThat(out.read()).isNotNegative();
            new ProcessBuilder("kill", "-INT", Long.toString(process.pid()))
                    .start()
                    .waitFor();
            in.write("/unknown\n/exit\n".getBytes(StandardCharsets.UTF_8));
            in.flush();
            assertThat(new String(out.readAllBytes(), StandardCharsets.UTF_8)).endsWith("\n");
            assertThat(process.waitFor()).isZero();
            assertThat(new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8))
                    .contains("first token after", "unknown command /unknown")
                    .doesNotContain(CONTEXT - 1 + " tokens");
        } finally {
            process.destroyForcibly();
        }
    }
}
