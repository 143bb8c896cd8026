package io.roseinfer.backend.cuda.memory;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Trait;
import java.util.Set;

/**
 * A model's sizes as the kernels lay them out: heads padded to a multiple of 16, everything a GEMM touches to a multiple of 128.
 *
 * @param shard the part of the model that the sizes are of
 * @param headPad padded size of a head
 */
public record ModelShape(ModelSpec spec, ElementType type, Shard shard, int headPad) {
    private static final int TILE = 128;
    private static final int LARGEST_HEAD = 256;

    /**
     * The sizes of a model.
     *
     * @throws BadModel if it has what the kernels cannot run: anything beyond the plain block, heads that are too large, or
     *     heads or inner columns that the devices cannot share evenly
     */
    public static ModelShape of(ModelSpec spec, ElementType type, Shard shard) {
        Trait.require(spec, Set.of(), "cuda");
        if (spec.attention().headSize() > LARGEST_HEAD) {
            throw new BadModel(
                    spec.name() + " has heads of size " + spec.attention().headSize() + "; the CUDA kernels take up to "
                            + LARGEST_HEAD + "; use --device cpu");
        }
        requireShares(spec, shard, spec.attention().heads(), "heads");
        requireShares(spec, shard, spec.mlp().inner(), "inner columns");
        return new ModelShape(spec, type, shard, roundUp(spec.attention().headSize(), 16));
    }

    private static void requireShares(ModelSpec spec, Shard shard, int count, String what) {
        if (count % shard.of() != 0) {
            throw new BadModel(spec.name() + " has " + count + " " + what + ", which " + shard.of()
                    + " devices cannot share evenly; take a number of devices that divides them");
        }
    }

    public static int roundUp(int value, int multiple) {
        return Math.multiplyExact(Math.ceilDiv(value, multiple), multiple);
    }

    /** Attention heads of this part. */
    public int heads() {
        return shard.share(spec.attention().heads());
    }

    /** All padded heads side by side. */
    public int attention() {
        return heads() * headPad;
    }

    /** Columns of the residual stream in memory. */
    public int stride() {
        return roundUp(spec.width(), TILE);
    }

    public int paddedAttention() {
        return roundUp(attention(), TILE);
    }

    public int paddedInner() {
        return roundUp(shard.share(spec.mlp().inner()), TILE);
    }

    public int paddedVocabulary() {
        return roundUp(spec.vocabularySize(), TILE);
    }

    /** Bytes that one KV block takes in one layer. */
    public long layerBlockBytes(int blockSize) {
        return 2L * attention() * blockSize * type.bytes();
    }
}
