package io.roseinfer.backend.cpu.panama;

import io.roseinfer.backend.cpu.kernel.Attention;
import io.roseinfer.backend.cpu.kernel.Bf16Weights;
import io.roseinfer.backend.cpu.kernel.Fp32Weights;
import io.roseinfer.backend.cpu.kernel.Int4Weights;
import io.roseinfer.backend.cpu.kernel.Int8Weights;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.PanelMatmul;
import io.roseinfer.backend.cpu.kernel.RowMath;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import java.util.List;

/** Kernels for vectors of one width. */
public final class VectorKernels implements Kernels.Factory {
    private final int bits;
    private final boolean prefetch;

    /** Creates kernels for vectors of 128, 256 or 512 bits; wider than the processor's is correct but very slow. */
    public VectorKernels(int bits) {
        this(bits, Processor.benefitsFromPrefetch());
    }

    /**
     * Returns the kernels for this processor: a kind with few loops to compile, then, if it pays, one with weight prefetch, which has four
     * times as many.
     */
    public static List<Kernels.Factory> kinds(int bits) {
        Kernels.Factory plain = new VectorKernels(bits, false);
        return Processor.benefitsFromPrefetch() ? List.of(plain, new VectorKernels(bits, true)) : List.of(plain);
    }

    /**
     * Creates kernels for vectors of 128, 256 or 512 bits.
     *
     * @param prefetch whether matmuls prefetch weights; affects speed only
     */
    public VectorKernels(int bits, boolean prefetch) {
        VectorWidth.species(bits);
        this.bits = bits;
        this.prefetch = prefetch;
    }

    @Override
    public String name() {
        return bits + "-bit vector";
    }

    @Override
    public boolean isForLargeModels() {
        return prefetch;
    }

    @Override
    public Kernels create(WeightFormat format, int contextLength) {
        PanelMatmul blocks = product(format);
        return new Kernels(
                blocks,
                format.ofHead().equals(format) ? blocks : product(format.ofHead()),
                Specialization.<Attention>of(VectorAttention.class, TileSpec.vectors(bits), contextLength),
                Specialization.<RowMath>of(VectorRows.class, TileSpec.vectors(bits)));
    }

    /** Returns the matmul of a format, with the measured number of prefetching tiles ({@link BlockPrefetch}). */
    private PanelMatmul product(WeightFormat format) {
        int most = BlockPrefetch.MAX_PREFETCHERS;
        return switch (format) {
            case Fp32Weights floats ->
                new FloatMatmul(
                        bits,
                        floats,
                        GemvTiles.class,
                        prefetch,
                        (rows, tiles) -> rows == 1 ? 0 : Math.min(tiles, most));
            case Bf16Weights halves ->
                new FloatMatmul(bits, halves, GemvTiles.class, prefetch, (rows, tiles) -> Math.min(tiles, most));
            case Int8Weights bytes ->
                new FloatMatmul(
                        bits,
                        bytes,
                        GemvInt8Tiles.class,
                        prefetch,
                        (rows, tiles) -> rows <= 2 * RegisterTiles.tallest(bits) ? 1 : Math.min(tiles, most));
            case Int4Weights nibbles -> new Int4Matmul(bits, nibbles);
        };
    }

    @Override
    public long bytes(WeightFormat format, int contextLength) {
        long products = format instanceof Int4Weights ? Int4Matmul.BYTES : 0;
        return products + VectorAttention.bytes(contextLength) + VectorRows.BYTES;
    }
}
