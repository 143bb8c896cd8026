package io.roseinfer.backend.cuda;

import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.backend.cuda.ForwardPass.Choice;
import io.roseinfer.backend.cuda.driver.Driver;
import java.lang.foreign.MemorySegment;
import java.util.function.IntSupplier;
import org.bytedeco.cuda.cudart.CUevent_st;
import org.jspecify.annotations.Nullable;

/**
 * One of the two places for a step in flight: what goes up, what comes back, and the event behind its last launch where nothing
 * comes back by itself.
 */
final class PendingStep {
    final int buffer;
    final MemorySegment staging;
    final TokenSlots tokenSlots;
    final LogprobSlots logprobSlots;
    final CUevent_st end;
    /** Asks the driver whether the event is over. */
    final IntSupplier ended;

    @Nullable
    StepInputs inputs;

    @Nullable
    StepOutputs outputs;

    Choice choice = Choice.GREEDY;
    int number;
    /** Tokens that the device tells, those of a bucket's empty rows included. */
    int expectedTokens;

    PendingStep(int buffer, MemorySegment staging, TokenSlots tokenSlots, LogprobSlots logprobSlots, CUevent_st end) {
        this.buffer = buffer;
        this.staging = staging;
        this.tokenSlots = tokenSlots;
        this.logprobSlots = logprobSlots;
        this.end = end;
        this.ended = () -> Driver.query(end);
    }

    /** Whether the device tells the tokens, and so the step's end; else there is an event behind the step. */
    boolean completesByTokens() {
        return expectedTokens > 0;
    }
}
