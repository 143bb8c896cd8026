package io.roseinfer.batch;

/**
 * Room for lines between input and output: one is let in for each that has left. This is what keeps memory bounded, and what holds the
 * reader back when the engine or the disk is slow.
 */
final class InFlightWindow {
    private final int size;
    private int inside;
    private int peak;
    private boolean closed;

    InFlightWindow(int size) {
        this.size = size;
    }

    /** Lets one line in, and waits for room; false if the window is closed, also while it waits. */
    synchronized boolean enter() throws InterruptedException {
        while (inside == size && !closed) {
            wait();
        }
        if (closed) {
            return false;
        }
        peak = Math.max(peak, ++inside);
        return true;
    }

    /** One line has left. */
    synchronized void leave() {
        inside--;
        notifyAll();
    }

    /** Lets no line in any more. */
    synchronized void close() {
        closed = true;
        notifyAll();
    }

    /** Whether no line is inside and none will be. */
    synchronized boolean isDone() {
        return closed && inside == 0;
    }

    /** Returns the highest number of lines that were inside together. */
    synchronized int peak() {
        return peak;
    }
}
