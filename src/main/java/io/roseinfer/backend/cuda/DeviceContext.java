package io.roseinfer.backend.cuda;

import org.bytedeco.cuda.cudart.CUctx_st;

/** A device's context, which a thread must make its own before it asks anything of the device. */
final class DeviceContext {
    /** Whose context a thread has: one thread may use two devices in turn. */
    private static final ThreadLocal<DeviceContext> CURRENT = new ThreadLocal<>();

    private final int device;
    private final CUctx_st handle;

    /** Opens the device for the calling thread. */
    DeviceContext(int device) {
        this.device = device;
        this.handle = Driver.retainContext(device);
        enter();
    }

    /** Makes the context the calling thread's, which costs nothing if it is already. */
    void enter() {
        if (!equals(CURRENT.get())) {
            int code = Driver.makeCurrent(handle);
            if (code != DriverStatus.SUCCESS) {
                throw DriverStatus.unavailable("using device " + device, code);
            }
            CURRENT.set(this);
        }
    }

    void close() {
        Driver.releaseContext(device);
    }
}
