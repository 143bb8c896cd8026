package io.roseinfer.cli;

import io.roseinfer.engine.TokenStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Handling of Ctrl-C in a command that reads a stream: the stream is closed, the command has a moment to finish its line and to release
 * resources, and the JVM exits with its code for the signal, 130.
 */
final class Interrupt {
    private static final long PATIENCE_SECONDS = 2;

    private Interrupt() {}

    /** Runs a body that reads the stream; Ctrl-C closes the stream meanwhile. */
    static void endsStream(TokenStream stream, Runnable body) {
        CountDownLatch finished = new CountDownLatch(1);
        Thread hook = new Thread(() -> endAndWait(stream, finished), "interrupt");
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            body.run();
        } finally {
            finished.countDown();
            remove(hook);
        }
    }

    private static void endAndWait(TokenStream stream, CountDownLatch finished) {
        stream.close();
        try {
            if (!finished.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                return;
            }
        } catch (InterruptedException goOn) {
            Thread.currentThread().interrupt();
        }
    }

    private static void remove(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException alreadyShuttingDown) {
            // The hook itself is running.
        }
    }
}
