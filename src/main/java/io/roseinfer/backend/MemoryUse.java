package io.roseinfer.backend;

/** A named allocation of a runner, printed by {@code --memory-plan} and {@code doctor}. */
public record MemoryUse(String name, long bytes) {}
