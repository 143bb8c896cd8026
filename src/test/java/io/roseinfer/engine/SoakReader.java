package io.roseinfer.engine;

import java.util.concurrent.locks.LockSupport;

/** Behaviors of readers. */
enum SoakReader {
    /** Reads to the end as fast as tokens arrive. */
    EAGER,
    /** Does something else after each token. */
    SLOW,
    /** Waits for the end before it reads. */
    LATE,
    /** Closes the stream after some tokens. */
    CONTENT,
    /** Closes the stream immediately, perhaps while the prompt is being tokenized. */
    HASTY,
    /** Yields to other threads, then closes the stream. */
    FICKLE;

    boolean closes() {
        return this == CONTENT || this == HASTY || this == FICKLE;
    }

    /** Reads to the end, whatever the outcome. */
    Completion read(TokenStream stream, long dice) {
        switch (this) {
            case EAGER -> {}
            case SLOW -> {
                while (stream.hasNext()) {
                    stream.next();
                    LockSupport.parkNanos((dice & 31) * 1000);
                }
            }
            case LATE -> {
                while (stream.finishReason().isEmpty()) {
                    LockSupport.parkNanos(50_000);
                }
            }
            case CONTENT -> {
                for (long left = dice & 7; left > 0 && stream.hasNext(); left--) {
                    stream.next();
                }
                stream.close();
            }
            case HASTY -> stream.close();
            case FICKLE -> {
                LockSupport.parkNanos((dice & 255) * 1000);
                stream.close();
            }
        }
        return stream.completion();
    }
}
