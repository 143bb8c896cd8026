package io.roseinfer.engine;

/**
 * Marks the threads that deliver tokens: an engine's own, and any other while it runs an action of
 * {@link TokenStream#onDelivery}. Such a thread must not wait for a token or for an engine to stop, which may be
 * waiting for it.
 */
final class DeliveryThread {
    private static final ThreadLocal<Boolean> DELIVERING = ThreadLocal.withInitial(() -> false);

    private DeliveryThread() {}

    /** Returns whether the calling thread delivers tokens. */
    static boolean isCurrent() {
        return DELIVERING.get();
    }

    /** Runs work on the calling thread, marked as a delivery thread meanwhile. */
    static void run(Runnable work) {
        if (isCurrent()) {
            work.run();
            return;
        }
        DELIVERING.set(true);
        try {
            work.run();
        } finally {
            DELIVERING.remove();
        }
    }
}
