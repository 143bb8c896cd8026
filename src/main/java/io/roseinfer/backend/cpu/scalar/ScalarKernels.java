package io.roseinfer.backend.cpu.scalar;

import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.PanelMatmul;
import io.roseinfer.backend.cpu.kernel.WeightFormat;

/** The reference kernels: plain loops that define what every other kernel must compute. */
public final class ScalarKernels implements Kernels.Factory {

    @Override
    public String name() {
        return "scalar";
    }

    @Override
    public Kernels create(WeightFormat format, int contextLength) {
        PanelMatmul product = new ScalarMatmul();
        return new Kernels(product, product, new ScalarAttention(contextLength), new ScalarRows());
    }

    @Override
    public long bytes(WeightFormat format, int contextLength) {
        return ScalarMatmul.BYTES + ScalarAttention.bytes(contextLength) + ScalarRows.BYTES;
    }
}
