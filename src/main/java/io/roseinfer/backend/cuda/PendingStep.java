package io.roseinfer.backend.cuda;

import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.backend.cuda.ForwardPass.Choice;
import java.lang.foreign.MemorySegment;
import org.bytedeco.cuda.cudart.CUevent_st;
import org.jspecify.annotations.Nullable;

/** One of the two places for a step in flight: what goes up, what comes back, and the event behind its last launch. */
final class PendingStep {
    final int turn;
    final MemorySegment staging;
    final Mailbox mailbox;
    final CUevent_st end;

    @Nullable
    StepInputs inputs;

    @Nullable
    StepOutputs outputs;

    Choice choice = Choice.GREEDY;
    int number;
    boolean finished = true;

    PendingStep(int turn, MemorySegment staging, Mailbox mailbox, CUevent_st end) {
        this.turn = turn;
        this.staging = staging;
        this.mailbox = mailbox;
        this.end = end;
    }
}
