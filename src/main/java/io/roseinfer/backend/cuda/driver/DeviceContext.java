package io.roseinfer.backend.cuda.driver;

import org.jspecify.annotations.Nullable;

/**
 * A device's context, which a thread must have before it asks anything of the device. The driver ties it to the thread of the
 * operating system, where other libraries of the process change it too: so it is looked up whenever it is needed, and what a thread
 * of the caller's had before is put back.
 */
public final class DeviceContext {
    /** No context. */
    private static final long NONE = 0;

    /** Which context the calling thread has, by address: the driver, or a stand-in. */
    interface Binding {
        long current();

        /** Returns the driver's code. */
        int bind(long context);
    }

    private final int device;
    private final long handle;
    private final Binding binding;
    /** A thread that had no context and was left with this one. */
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

    /** Gives the calling thread back a context, or none. */
    public static void restore(long context) {
        restore(context, new Driver.ContextBinding());
    }

    private static void restore(long context, Binding binding) {
        if (binding.current() != context) {
            int ignored = binding.bind(context); // One that its owner has destroyed cannot be put back.
        }
    }

    /** Makes the context the calling thread's; returns the one it had, for {@link #leave}. */
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

    /** Gives the thread its context back. A platform thread that had none keeps this one, so that its next step finds it. */
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

    /** Gives the thread its context back when nothing of this one will be used again: none if it had this one from a step. */
    public void leaveForGood(long before) {
        restore(before == handle && Thread.currentThread().equals(given) ? NONE : before, binding);
    }

    public void close() {
        Driver.releaseContext(device);
    }
}
