package io.roseinfer.backend.cuda.driver;

import io.roseinfer.base.RoseException.DeviceFailure;
import java.lang.foreign.MemorySegment;
import org.bytedeco.cuda.cudart.CUevent_st;
import org.bytedeco.cuda.cudart.CUstream_st;

/**
 * A runner's compute stream: copies, launches and graphs in order. A second stream uploads the inputs of a step while the step before
 * still runs. The first failure is final: every later use answers with the same one
 * and asks nothing more of the driver. After most failures the device is well and all that a runner holds can be given back; a
 * context that has faulted stays broken until the process ends.
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

    /** Whether nothing can be given back any more. */
    public boolean isLost() {
        return DriverStatus.breaksContext(failure);
    }

    /** Whether the first failure was that the device had no memory left. */
    public boolean isOutOfMemory() {
        return failure == DriverStatus.OUT_OF_MEMORY;
    }

    /** Whether the first failure was that a step took longer than it may, so that the device may hang. */
    public boolean isLate() {
        return failure == DriverStatus.STEP_TIMEOUT;
    }

    /** Throws if a call failed, now or before. */
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
     * Copies on the upload stream; work queued on the compute stream after this call waits for the copy. No work that is queued there
     * already may still read the target.
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

    /** Waits until the device is idle, whatever failed before; returns whether what it holds can be given back. */
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
