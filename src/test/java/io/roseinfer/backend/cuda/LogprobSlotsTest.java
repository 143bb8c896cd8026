package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.StepOutputs;
import io.roseinfer.backend.cuda.SampleStructs.Report;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class LogprobSlotsTest {
    @Test
    void report_of_a_sample_is_copied_with_its_most_likely_tokens() {
        MemorySegment memory = Arena.ofAuto().allocate(2L * Report.BYTES, 16);
        long at = Report.BYTES;
        memory.set(ValueLayout.JAVA_FLOAT, at + Report.LOGPROB, -3);
        memory.set(ValueLayout.JAVA_INT, at + Report.RANK, 7);
        for (int rank = 0; rank < 2; rank++) {
            memory.set(ValueLayout.JAVA_INT, at + Report.TOKENS + 4L * rank, 40 + rank);
            memory.set(ValueLayout.JAVA_FLOAT, at + Report.LOGPROBS + 4L * rank, -1 - rank);
        }
        StepOutputs out = new StepOutputs(2);
        new LogprobSlots(memory).read(1, 2, out);
        assertThat(out.logprob(1)).isEqualTo(-3);
        assertThat(out.rank(1)).isEqualTo(7);
        for (int rank = 0; rank < 2; rank++) {
            assertThat(out.topToken(1, rank)).isEqualTo(40 + rank);
            assertThat(out.topLogprob(1, rank)).isEqualTo(-1 - rank);
        }
    }
}
