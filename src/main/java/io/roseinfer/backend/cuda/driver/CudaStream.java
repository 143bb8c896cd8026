package io.roseinfer.backend.cuda.driver;

import io.roseinfer.base.RoseException.DeviceFailure;
import java.lang.foreign.MemorySegment;
import org.bytedeco.cuda.cudart.CUevent_st;
import org.bytedeco.cuda.cudart.CUstream_st;

/**
 * A runner's compute stream: copies, launches and graphs in order. A second stream uploads a step's inputs while the previous step
 * runs. The first failure is final: every later use throws the same one without calling the driver. After most failures the device
 * still works and memory can be freed; a faulted context stays broken until the process ends.
 */
public final class CudaStream {
    private final CUstream_st handle;
    private final CUstream_st uploads;
    private final CUevent_st uploaded;
    private final LaunchLog log;
    private final String device;
    private int failure = DriverStatus.SUCCESS;
    private String failed = "";

    public CudaStream(String device, LaunchLog log, Releases releases) {
        this.handle = releases.add(Driver.createStream(), Driver::destroy);
        this.uploads = releases.add(Driver.createStream(), Driver::destroy);
        this.uploaded = releases.add(Driver.createEvent(), Driver::destroy);
        this.device = device;
        this.log = log;
    }

    public CUstream_st handle() {
        return handle;
    }

    public LaunchLog log() {
        return log;
    }

    public boolean usable() {
        return failure == DriverStatus.SUCCESS;
    }

    /** Returns whether the context is broken, so that nothing can be freed. */
    public boolean isLost() {
        return DriverStatus.breaksContext(failure);
    }

    /** Returns whether the first failure was out of memory. */
    public boolean isOutOfMemory() {
        return failure == DriverStatus.OUT_OF_MEMORY;
    }

    /** Returns whether the first failure was a step timeout, so that the device may hang. */
    public boolean isLate() {
        return failure == DriverStatus.STEP_TIMEOUT;
    }

    /** Throws if this or an earlier call failed. */
    public void check(int code, String what) {
        if (usable() && code != DriverStatus.SUCCESS) {
            failure = code;
            failed = what;
        }
        requireUsable();
    }

    public void requireUsable() {
        if (!usable()) {
            throw failure(device, failed, failure, log);
        }
    }

    public static DeviceFailure failure(String device, String what, int code, LaunchLog log) {
        return new DeviceFailure(
                device + ": " + what + ": " + DriverStatus.describe(code) + "; "
                        + (DriverStatus.breaksContext(code) ? "the device needs a new process" : "load the model again")
                        + "; last launches, newest first: " + log,
                false);
    }

    public void copyToDevice(long target, MemorySegment source, long bytes) {
        requireUsable();
        try (Address from = new Address(source)) {
            check(Driver.copyToDevice(target, from, bytes, handle), "copying to the device");
        }
    }

    /**
     * Copies on the upload stream; later work on the compute stream waits for the copy. Work already queued there must not read the
     * target.
     */
    public void upload(long target, MemorySegment source, long bytes) {
        requireUsable();
        try (Address from = new Address(source)) {
            check(Driver.copyToDevice(target, from, bytes, uploads), "copying a step's inputs to the device");
        }
        check(Driver.record(uploaded, uploads), "recording an event");
        check(Driver.await(uploaded, handle), "waiting for a step's inputs");
    }

    public void copyToHost(MemorySegment target, long source, long bytes) {
        requireUsable();
        try (Address to = new Address(target)) {
            check(Driver.copyToHost(to, source, bytes, handle), "copying from the device");
        }
    }

    public void fill(long address, int value, long bytes) {
        requireUsable();
        check(Driver.fill(address, (byte) value, bytes, handle), "filling device memory");
    }

    /** Waits until everything in the stream is done. */
    public void synchronize() {
        requireUsable();
        check(Driver.synchronize(handle), "waiting for the device");
    }

    /** Waits until the device is idle, regardless of earlier failures; returns whether its memory can be freed. */
    public boolean drain() {
        if (!isLost()) {
            int code = Driver.synchronize(handle);
            if (usable() || DriverStatus.breaksContext(code)) {
                failure = code;
                failed = "waiting for the device";
            }
        }
        return !isLost();
    }
}
