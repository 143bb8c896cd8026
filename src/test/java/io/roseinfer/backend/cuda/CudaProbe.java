package io.roseinfer.backend.cuda;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.cuda.driver.DeviceContext;
import io.roseinfer.backend.cuda.driver.Driver;

/** Looks into a CUDA runner for tests in other packages, with what its own package can see. */
public final class CudaProbe {
    private CudaProbe() {}

    /** The logits of a sample of the step awaited last, a whole vocabulary; somebody drew in it or asked for a report. */
    public static float[] logits(ModelRunner runner, int sample) {
        return ((CudaModelRunner) runner).logits(sample);
    }

    /** Fills a block with NaN, before any step submitted later. */
    public static void poison(ModelRunner runner, int block) {
        ((CudaModelRunner) runner).poison(block);
    }

    /** Memory of the first device that no process holds, in bytes. */
    public static long freeBytes() {
        long before = DeviceContext.current();
        DeviceContext context = DeviceContext.open(0);
        try {
            return Driver.freeBytes();
        } finally {
            DeviceContext.restore(before);
            context.close();
        }
    }
}
