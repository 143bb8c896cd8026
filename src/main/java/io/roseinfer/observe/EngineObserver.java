package io.roseinfer.observe;

/**
 * An observer of an engine: a {@link StepObserver}, a {@link RequestObserver}, or both. {@code --observe} names one; if it is
 * {@link AutoCloseable}, the command closes it after the engine.
 */
public sealed interface EngineObserver permits StepObserver, RequestObserver {}
