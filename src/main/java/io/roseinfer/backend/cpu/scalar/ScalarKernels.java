package io.roseinfer.backend.cpu.scalar;

import io.roseinfer.backend.cpu.kernel.Kernels;

/** The reference kernels: plain loops that say what every other kernel must compute. */
public final class ScalarKernels implements Kernels.Factory {

    @Override
    public String name() {
        return "scalar";
    }

    @Override
    public Kernels create(int contextLength) {
        return new Kernels(new ScalarProduct(), new ScalarAttention(contextLength), new ScalarRows());
    }

    @Override
    public long bytes(int contextLength) {
        return ScalarProduct.BYTES + ScalarAttention.bytes(contextLength) + ScalarRows.BYTES;
    }
}
