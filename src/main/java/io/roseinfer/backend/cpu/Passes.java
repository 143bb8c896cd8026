package io.roseinfer.backend.cpu;

/** The two passes of a step, blocks and head, which share scratch memory, with the estimate of their work and their warm-up. */
record Passes(ForwardPass forward, LmHeadPass head, StepWork work, KernelWarmUp warmUp) {}
