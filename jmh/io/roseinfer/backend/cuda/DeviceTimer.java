package io.roseinfer.backend.cuda;

import static org.bytedeco.cuda.global.cudart.CU_EVENT_DEFAULT;
import static org.bytedeco.cuda.global.cudart.cuEventCreate;
import static org.bytedeco.cuda.global.cudart.cuEventElapsedTime;
import static org.bytedeco.cuda.global.cudart.cuEventSynchronize;

import io.roseinfer.backend.cuda.driver.CudaStream;
import io.roseinfer.backend.cuda.driver.Driver;
import io.roseinfer.base.Check;
import org.bytedeco.cuda.cudart.CUevent_st;

/** Times what is put into a stream by the device's own clock. */
final class DeviceTimer {
    private static final double MICROS_PER_MILLI = 1000;

    private final CudaStream stream;
    private final CUevent_st start = event();
    private final CUevent_st end = event();

    DeviceTimer(CudaStream stream) {
        this.stream = stream;
    }

    private static CUevent_st event() {
        CUevent_st event = new CUevent_st();
        Check.that(cuEventCreate(event, CU_EVENT_DEFAULT) == 0, "no event for timing");
        return event;
    }

    /** Microseconds from the end of what was before to the end of the work. */
    double micros(Runnable work) {
        stream.check(Driver.record(start, stream.handle()), "recording an event");
        work.run();
        stream.check(Driver.record(end, stream.handle()), "recording an event");
        stream.check(cuEventSynchronize(end), "waiting for an event");
        float[] millis = new float[1];
        stream.check(cuEventElapsedTime(millis, start, end), "reading events");
        return millis[0] * MICROS_PER_MILLI;
    }

    void close() {
        Driver.destroy(start);
        Driver.destroy(end);
    }
}
