package io.roseinfer.backend.cuda;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.cuda.driver.DeviceContext;
import io.roseinfer.backend.cuda.driver.Driver;

/** Package-private access to a CUDA runner for tests in other packages. */
public final class CudaProbe {
    private CudaProbe() {}

    /** Returns the logits of a sample in the step awaited last, which ran the sampling kernel. */
    public static float[] logits(ModelRunner runner, int sample) {
        return ((CudaModelRunner) runner).logits(sample);
    }

    /** Fills a block with NaN before later steps. */
    public static void poison(ModelRunner runner, int block) {
        ((CudaModelRunner) runner).poison(block);
    }

    /** Returns the free memory of the first device in bytes. */
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
