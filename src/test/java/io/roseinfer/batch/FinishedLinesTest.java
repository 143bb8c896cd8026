package io.roseinfer.batch;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class FinishedLinesTest {
    private final FinishedLines finished = new FinishedLines();

    private List<LineInFlight> lines(int count) {
        BatchLine bad = BatchLine.parse("{}".getBytes(StandardCharsets.UTF_8), 1);
        return LongStream.range(0, count)
                .mapToObj(i -> new LineInFlight(i, bad, finished))
                .toList();
    }

    @Test
    void lines_are_taken_once_and_oldest_first() {
        List<LineInFlight> lines = lines(3);
        lines.forEach(finished::push);
        assertThat(finished.takeAll()).containsExactlyElementsOf(lines);
        assertThat(finished.takeAll()).isEmpty();
    }

    @Test
    void line_that_was_taken_keeps_none_before_it_reachable() {
        List<LineInFlight> lines = lines(3);
        lines.forEach(finished::push);
        finished.takeAll();
        assertThat(lines).allMatch(line -> line.finishedBefore == null);
    }
}
