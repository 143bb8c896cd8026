package io.roseinfer.backend.cuda;

import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.backend.cuda.ForwardPass.Choice;
import io.roseinfer.backend.cuda.ForwardPass.Step;
import io.roseinfer.backend.cuda.driver.Driver;
import java.lang.foreign.MemorySegment;
import java.util.function.IntSupplier;
import org.bytedeco.cuda.cudart.CUevent_st;
import org.jspecify.annotations.Nullable;

/** One of two in-flight step buffers: inputs, result slots, and the end event of steps without samples. */
final class PendingStep {
    final int buffer;
    final MemorySegment staging;
    /** Staging of the sampling kernel's inputs. */
    final MemorySegment sampleStaging;

    final TokenSlots tokenSlots;
    final LogprobSlots logprobSlots;
    final CUevent_st end;
    /** Queries the end event. */
    final IntSupplier ended;

    @Nullable
    StepInputs inputs;

    @Nullable
    StepOutputs outputs;

    /** The pass, once launched. */
    @Nullable
    Step step;

    Choice choice = Choice.GREEDY;
    int number;
    /** Tokens that the device writes, including tokens of padding rows. */
    int expectedTokens;

    PendingStep(
            int buffer,
            MemorySegment staging,
            MemorySegment sampleStaging,
            TokenSlots tokenSlots,
            LogprobSlots logprobSlots,
            CUevent_st end) {
        this.buffer = buffer;
        this.staging = staging;
        this.sampleStaging = sampleStaging;
        this.tokenSlots = tokenSlots;
        this.logprobSlots = logprobSlots;
        this.end = end;
        this.ended = () -> Driver.query(end);
    }

    /** Returns whether token slots signal the end of the step; else its end event does. */
    boolean completesByTokens() {
        return expectedTokens > 0;
    }
}
