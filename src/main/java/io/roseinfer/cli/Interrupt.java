package io.roseinfer.cli;

import io.roseinfer.engine.TokenStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * What Ctrl-C does to a command that reads a stream: the stream ends, the command gets a moment to finish its line and to close
 * what it opened, and the JVM leaves with its own code for the signal, 130.
 */
final class Interrupt {
    private static final long PATIENCE_SECONDS = 2;

    private Interrupt() {}

    /** Runs a body that reads the stream. */
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
            // The hook is what got us here.
        }
    }
}
