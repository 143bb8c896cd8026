package io.roseinfer.backend.cpu;

/** The passes of a step, which share scratch memory, with their work estimate and warm-up. */
record Passes(ForwardPass forward, LmHeadPass head, StepWork work, KernelWarmUp warmUp) {}
