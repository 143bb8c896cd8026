package io.roseinfer.scheduler;

import java.util.Locale;

/** Why a request ended. */
public enum FinishReason {
    /** The model generated an end-of-text token or a stop string. */
    STOP,
    /** The maximum number of tokens was generated, or the context is full. */
    LENGTH,
    /** The caller closed the stream, or the engine was closed. */
    CANCELLED,
    /** The deadline passed while the request waited or ran; tokens generated before it are kept. */
    DEADLINE,
    /** The request failed; its stream throws the cause. */
    ERROR;

    /** Returns the reason as results and recordings spell it, in lower case. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
