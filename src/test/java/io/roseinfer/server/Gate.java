package io.roseinfer.server;

import io.roseinfer.backend.sim.SimOptions;
import java.util.concurrent.CountDownLatch;

/** A device that pauses at one step until it is released. */
final class Gate {
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch open = new CountDownLatch(1);
    private final long at;

    Gate(long step) {
        at = step;
    }

    SimOptions options() {
        return SimOptions.defaults().withOnStep(step -> {
            if (step == at) {
                reached.countDown();
                await(open);
            }
        });
    }

    void awaitReached() {
        await(reached);
    }

    void open() {
        open.countDown();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
