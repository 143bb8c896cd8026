package io.roseinfer.backend.cuda.driver;

import java.util.function.IntSupplier;
import org.bytedeco.cuda.cudart.CUctx_st;

/**
 * A device's context, which a thread must make its own before it asks anything of the device. The driver ties it to the thread of
 * the operating system: a virtual thread may wake up on another one, and so has to make it its own every time.
 */
public final class DeviceContext {
    /** Whose context a platform thread has: one thread may use two devices in turn. */
    private static final ThreadLocal<DeviceContext> CURRENT = new ThreadLocal<>();

    private final int device;
    private final IntSupplier makeCurrent;

    /**
     * @param makeCurrent makes the context the calling thread's, and returns the driver's code
     */
    DeviceContext(int device, IntSupplier makeCurrent) {
        this.device = device;
        this.makeCurrent = makeCurrent;
    }

    /** Opens the device for the calling thread. */
    public static DeviceContext open(int device) {
        CUctx_st handle = Driver.retainContext(device);
        DeviceContext context = new DeviceContext(device, () -> Driver.makeCurrent(handle));
        try {
            context.enter();
            return context;
        } catch (RuntimeException e) {
            context.close();
            throw e;
        }
    }

    /** Makes the context the calling thread's, which costs a platform thread nothing if it is already. */
    public void enter() {
        boolean virtual = Thread.currentThread().isVirtual();
        if (!virtual && equals(CURRENT.get())) {
            return;
        }
        int code = makeCurrent.getAsInt();
        if (code != DriverStatus.SUCCESS) {
            throw DriverStatus.refusal("using device " + device, code);
        }
        if (!virtual) {
            CURRENT.set(this);
        }
    }

    public void close() {
        Driver.releaseContext(device);
    }
}
