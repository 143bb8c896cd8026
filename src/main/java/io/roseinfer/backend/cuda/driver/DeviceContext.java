package io.roseinfer.backend.cuda.driver;

import org.jspecify.annotations.Nullable;

/**
 * A device's context, which must be current on a thread before it uses the device. The driver binds it to the OS thread, where other
 * libraries change it too. So it is checked on every use, and a caller's previous context is restored.
 */
public final class DeviceContext {
    /** No context. */
    private static final long NONE = 0;

    /** Access to the calling thread's context: the driver, or a test's. */
    interface Binding {
        long current();

        /** Returns the driver's code. */
        int bind(long context);
    }

    private final int device;
    private final long handle;
    private final Binding binding;
    /** A thread without a context that keeps this one. */
    private @Nullable Thread given;

    DeviceContext(int device, long handle, Binding binding) {
        this.device = device;
        this.handle = handle;
        this.binding = binding;
    }

    /** Opens the device for the calling thread. */
    public static DeviceContext open(int device) {
        DeviceContext context = new DeviceContext(device, Driver.retainContext(device), new Driver.ContextBinding());
        try {
            long ignored = context.enter();
            return context;
        } catch (RuntimeException e) {
            context.close();
            throw e;
        }
    }

    /** Returns the calling thread's context, for {@link #restore}. */
    public static long current() {
        return new Driver.ContextBinding().current();
    }

    /** Restores the calling thread's context. */
    public static void restore(long context) {
        restore(context, new Driver.ContextBinding());
    }

    private static void restore(long context, Binding binding) {
        if (binding.current() != context) {
            int ignored = binding.bind(context); // a destroyed context cannot be restored
        }
    }

    /** Makes this context current; returns the previous one, for {@link #leave}. */
    public long enter() {
        long before = binding.current();
        if (before != handle) {
            int code = binding.bind(handle);
            if (code != DriverStatus.SUCCESS) {
                throw DriverStatus.refusal("using device " + device, code);
            }
        }
        return before;
    }

    /** Restores the previous context. A platform thread that had none keeps this one for its next step. */
    public void leave(long before) {
        if (before == handle) {
            return;
        }
        if (before == NONE && !Thread.currentThread().isVirtual()) {
            given = Thread.currentThread();
        } else {
            restore(before, binding);
        }
    }

    /** Restores the previous context before this one is released: none if the thread kept this one from a step. */
    public void leaveForGood(long before) {
        restore(before == handle && Thread.currentThread().equals(given) ? NONE : before, binding);
    }

    public void close() {
        Driver.releaseContext(device);
    }
}
