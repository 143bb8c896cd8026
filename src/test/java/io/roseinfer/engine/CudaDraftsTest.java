package io.roseinfer.engine;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.cuda.CudaBackend;
import io.roseinfer.backend.cuda.CudaOptions;
import io.roseinfer.backend.cuda.RequiresCuda;
import io.roseinfer.base.Clock;

/** Speculation on the GPU with {@link CudaOptions#batchInvariant}. */
@RequiresCuda
class CudaDraftsTest extends SpeculationCases {
    CudaDraftsTest() {
        super(64, 16, 16);
    }

    @Override
    Backend open() {
        return CudaBackend.open(
                CudaOptions.defaults().withPrecision(Precision.BF16).withBatchInvariant(true), Clock.system());
    }
}
