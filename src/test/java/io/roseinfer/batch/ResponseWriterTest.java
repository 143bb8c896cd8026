package io.roseinfer.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.Clock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResponseWriterTest {
    private static final int SIZE = 4;

    @TempDir
    private Path folder;

    private final InFlightWindow window = new InFlightWindow(SIZE);

    private static BatchResponse answer(String text) {
        return new BatchResponse((text + "\n").getBytes(StandardCharsets.UTF_8), false, 1, 2);
    }

    /** The output for lines that fit a full window. */
    private String written(boolean ordered, Consumer<ResponseWriter> answers) throws IOException, InterruptedException {
        Path file = folder.resolve("out.jsonl");
        try (BatchOutput output = BatchOutput.create(file, Clock.system())) {
            for (int i = 0; i < SIZE; i++) {
                assertThat(window.enter()).isTrue();
            }
            ResponseWriter writer = new ResponseWriter(output, window, ordered);
            answers.accept(writer);
        }
        return Files.readString(file);
    }

    @Test
    void unordered_responses_are_written_as_they_finish() throws Exception {
        assertThat(written(false, writer -> {
                    writer.put(2, answer("c"));
                    writer.put(0, answer("a"));
                }))
                .isEqualTo("c\na\n");
    }

    @Test
    void ordered_response_waits_for_earlier_ones() throws Exception {
        assertThat(written(true, writer -> {
                    writer.put(2, answer("c"));
                    writer.put(0, answer("a"));
                    assertThat(writer.totals(0, 0).answered()).isEqualTo(1);
                    writer.put(1, answer("b"));
                    writer.put(3, answer("d"));
                }))
                .isEqualTo("a\nb\nc\nd\n");
    }

    @Test
    void ordered_output_stops_at_a_line_without_response() throws Exception {
        assertThat(written(true, writer -> {
                    writer.put(3, answer("d"));
                    writer.put(1, BatchResponse.NONE);
                    writer.put(2, answer("c"));
                    writer.put(0, answer("a"));
                    assertThat(writer.totals(0, 0)).isEqualTo(new BatchTotals(0, 0, 1, 0, 1, 2));
                }))
                .isEqualTo("a\n");
        window.close();
        assertThat(window.isDone()).isTrue();
    }
}
