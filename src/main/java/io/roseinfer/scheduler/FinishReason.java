package io.roseinfer.scheduler;

/** Why a request ended. */
public enum FinishReason {
    /** The model wrote its end-of-text token, or a stop string. */
    STOP,
    /** As many tokens as asked for, or the context is full. */
    LENGTH,
    /** The caller closed the stream or the engine was closed. */
    CANCELLED,
    /** The request failed; its stream throws the reason. */
    ERROR
}
