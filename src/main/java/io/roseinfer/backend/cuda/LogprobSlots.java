package io.roseinfer.backend.cuda;

import io.roseinfer.backend.StepOutputs;
import io.roseinfer.backend.cuda.SampleStructs.Report;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Host-mapped log-probabilities: one {@link Report} per sample, complete once the sample's token slot is written. */
final class LogprobSlots {
    private final MemorySegment memory;

    LogprobSlots(MemorySegment memory) {
        this.memory = memory;
    }

    long address() {
        return memory.address();
    }

    /** Copies a sample's report, with its {@code count} most likely tokens. */
    void read(int sample, int count, StepOutputs out) {
        long at = (long) Report.BYTES * sample;
        out.setRank(sample, memory.get(ValueLayout.JAVA_INT, at + Report.RANK));
        out.setLogprob(sample, memory.get(ValueLayout.JAVA_FLOAT, at + Report.LOGPROB));
        for (int rank = 0; rank < count; rank++) {
            int token = memory.get(ValueLayout.JAVA_INT, at + Report.TOKENS + 4L * rank);
            out.setTop(sample, rank, token, memory.get(ValueLayout.JAVA_FLOAT, at + Report.LOGPROBS + 4L * rank));
        }
    }
}
