package io.roseinfer.backend;

/** One named allocation of a runner, as {@code --memory-plan} and {@code doctor} print it. */
public record MemoryUse(String name, long bytes) {}
