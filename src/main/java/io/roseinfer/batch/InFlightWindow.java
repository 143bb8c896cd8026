package io.roseinfer.batch;

/**
 * Limits the lines between input and output, which bounds memory and slows the reader when the engine or the disk is
 * slow.
 */
final class InFlightWindow {
    private final int size;
    private int inside;
    private int peak;
    private boolean closed;

    InFlightWindow(int size) {
        this.size = size;
    }

    /** Waits for room and enters; returns false if the window is closed before. */
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

    /** Leaves the window. */
    synchronized void leave() {
        inside--;
        notifyAll();
    }

    /** Admits no more lines. */
    synchronized void close() {
        closed = true;
        notifyAll();
    }

    /** Returns whether no line is inside and none will enter. */
    synchronized boolean isDone() {
        return closed && inside == 0;
    }

    /** Returns the highest number of lines that were inside together. */
    synchronized int peak() {
        return peak;
    }
}
