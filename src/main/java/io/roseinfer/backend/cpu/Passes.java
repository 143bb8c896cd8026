package io.roseinfer.backend.cpu;

/** What computes a step, over scratch memory that the parts share: the blocks, then the head; and what it costs. */
record Passes(ForwardPass forward, HeadPass head, StepWork work, KernelWarmUp warmUp) {}
