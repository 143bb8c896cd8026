package io.roseinfer.engine;

import java.util.concurrent.locks.LockSupport;

/** How somebody deals with a stream. */
enum SoakReader {
    /** Reads to the end as fast as it comes. */
    EAGER,
    /** Reads a token at a time and does something else in between. */
    SLOW,
    /** Waits for the ending and reads then. */
    LATE,
    /** Has enough after some tokens. */
    CONTENT,
    /** Closes it at once, which may be while its prompt is being tokenized. */
    HASTY,
    /** Closes it when others have had a moment. */
    FICKLE;

    boolean closes() {
        return this == CONTENT || this == HASTY || this == FICKLE;
    }

    /** Reads to the ending, however it comes. */
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
