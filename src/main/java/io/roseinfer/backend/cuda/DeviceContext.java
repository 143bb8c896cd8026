package io.roseinfer.backend.cuda;

import org.bytedeco.cuda.cudart.CUctx_st;

/** A device's context, which a thread must make its own before it asks anything of the device. */
final class DeviceContext {
    private final int device;
    private final CUctx_st handle;
    private Thread owner;

    /** Opens the device for the calling thread. */
    DeviceContext(int device) {
        this.device = device;
        this.handle = Driver.retainContext(device);
        this.owner = Thread.currentThread();
        makeCurrent();
    }

    /** Makes the context the calling thread's, which costs nothing if it is already. */
    void enter() {
        if (!Thread.currentThread().equals(owner)) {
            owner = Thread.currentThread();
            makeCurrent();
        }
    }

    private void makeCurrent() {
        int code = Driver.makeCurrent(handle);
        if (code != DriverStatus.SUCCESS) {
            throw DriverStatus.unavailable("using device " + device, code);
        }
    }

    void close() {
        Driver.releaseContext(device);
    }
}
