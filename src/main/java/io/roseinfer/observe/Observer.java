package io.roseinfer.observe;

/** An instrument: a {@link StepObserver}, a {@link RequestObserver}, or both in one class. */
public sealed interface Observer permits StepObserver, RequestObserver {}
