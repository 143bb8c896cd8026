package io.roseinfer.backend.cuda;

import io.roseinfer.backend.KvPrecision;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.model.Activation;
import io.roseinfer.model.BlockSpec;
import io.roseinfer.model.BlockSpec.Norm.Kind;
import io.roseinfer.model.ModelFeature;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions.Rope;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Predicate;

/**
 * A model's sizes in the kernels' layout: heads padded to a multiple of 16, GEMM dimensions to a multiple of 128.
 *
 * @param type of activations
 * @param weights type of the matrices; differs from {@code type} only for {@link ElementType#INT8}
 * @param kvCacheDtype precision of the KV cache
 * @param shard the part of the model
 * @param headPad padded head size
 */
record ModelShape(
        ModelSpec spec, ElementType type, ElementType weights, KvPrecision kvCacheDtype, Shard shard, int headPad) {
    /** Padding of matrix rows and columns. */
    static final int TILE = 128;

    private static final int MAX_HEAD_SIZE = 256;
    private static final Set<ModelFeature> SUPPORTED = Set.of(
            ModelFeature.RMS_NORM,
            ModelFeature.ROPE,
            ModelFeature.PARTIAL_ROPE,
            ModelFeature.NO_POSITIONS,
            ModelFeature.GROUPED_QUERY_ATTENTION,
            ModelFeature.OTHER_QUERY_WIDTH,
            ModelFeature.QK_NORM,
            ModelFeature.WINDOW,
            ModelFeature.GATED_MLP,
            ModelFeature.PARALLEL_RESIDUAL);

    /** Activations of an MLP without a gate; the kernels treat others as ReLU. */
    private static final Set<Activation> PLAIN = EnumSet.of(Activation.GELU_TANH, Activation.GELU_ERF, Activation.RELU);

    /** Activations of a gated MLP. */
    private static final Set<Activation> GATED =
            EnumSet.of(Activation.GELU_TANH, Activation.GELU_ERF, Activation.RELU, Activation.SILU);

    /**
     * Returns the sizes of a model.
     *
     * @param weights type of its matrices
     * @throws BadModel if the kernels do not support it: an unknown feature, too large heads, another activation, int8 weights or an fp8
     *     KV cache in an unsupported block, or heads or inner columns that do not divide among the devices
     */
    public static ModelShape of(ModelSpec spec, ElementType weights, KvPrecision kvCacheDtype, Shard shard) {
        ModelFeature.require(spec, SUPPORTED, "cuda");
        if (spec.attention().headSize() > MAX_HEAD_SIZE) {
            throw new BadModel(
                    spec.name() + " has heads of size " + spec.attention().headSize() + "; the CUDA kernels take up to "
                            + MAX_HEAD_SIZE,
                    Remedy.USE_CPU);
        }
        if (!(spec.mlp().gated() ? GATED : PLAIN).contains(spec.mlp().activation())) {
            throw new BadModel(
                    spec.name() + " has an MLP with " + spec.mlp().activation() + " and "
                            + (spec.mlp().gated() ? "a" : "no")
                            + " gate, which the CUDA kernels do not compute",
                    Remedy.USE_CPU);
        }
        if (weights == ElementType.INT8) {
            requireInt8(spec);
        }
        requireShares(spec, shard, spec.attention().heads(), "heads");
        requireShares(spec, shard, spec.attention().kvHeads(), "KV heads");
        requireShares(spec, shard, spec.mlp().inner(), "inner columns");
        ModelShape shape = new ModelShape(
                spec,
                weights.activations(),
                weights,
                kvCacheDtype,
                shard,
                roundUp(spec.attention().headSize(), 16));
        if (shape.fp8KvCache() && shape.plainAttention()) {
            throw new BadModel(
                    spec.name() + " has learned positions and no shared KV heads; there are no fp8 KV-cache kernels"
                            + " for such models",
                    Remedy.of("use %s auto", "kv_cache_dtype"));
        }
        return shape;
    }

    /** Requires what the int8 kernels support: RMS norm, RoPE or no positions, and a gated MLP. */
    private static void requireInt8(ModelSpec spec) {
        String other = "";
        if (!normsAre(spec, Kind.RMS)) {
            other = "layer norms";
        } else if (spec.learnsPositions()) {
            other = "learned positions";
        } else if (!spec.mlp().gated()) {
            other = "an MLP without a gate";
        } else if (ModelFeature.of(spec).contains(ModelFeature.PARALLEL_RESIDUAL)) {
            other = "attention and MLP side by side";
        }
        if (!other.isEmpty()) {
            throw new BadModel(
                    spec.name() + " has " + other
                            + "; int8 weights on cuda are for models with RMS norms, gated MLPs and"
                            + " no learned positions",
                    Remedy.of("use another %s", "dtype"),
                    Remedy.USE_CPU);
        }
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

    /** Returns the query heads of this shard. */
    public int heads() {
        return shard.share(spec.attention().heads());
    }

    /** Returns the KV heads of this shard. */
    public int kvHeads() {
        return shard.share(spec.attention().kvHeads());
    }

    /** Returns the width of all padded query heads. */
    public int attention() {
        return heads() * headPad;
    }

    /** Returns the width of all padded key heads, or value heads. */
    public int kvWidth() {
        return kvHeads() * headPad;
    }

    /** Returns whether attention reads the QKV output unchanged: MHA without RoPE and QK norm. */
    public boolean plainAttention() {
        return spec.learnsPositions() && kvHeads() == heads() && !qkNorms();
    }

    /** Returns whether any block has QK norm. */
    public boolean qkNorms() {
        return anyBlock(block -> block.attention().qkNorms());
    }

    /** Returns whether any block has a sliding window. */
    public boolean hasWindows() {
        int context = spec.contextLength();
        return anyBlock(block -> block.attention().window() < context);
    }

    /** Returns how many elements of a head are rotated in a block. */
    public static int rotarySize(BlockSpec block) {
        return block.positions() instanceof Rope rope ? rope.rotarySize() : 0;
    }

    private boolean normsAre(Kind kind) {
        return normsAre(spec, kind);
    }

    /** Returns whether all norms over the residual stream are of a kind. */
    private static boolean normsAre(ModelSpec spec, Kind kind) {
        return spec.head().norm().kind() == kind
                && !anyBlock(spec, block -> block.norm().kind() != kind);
    }

    private boolean anyBlock(Predicate<BlockSpec> property) {
        return anyBlock(spec, property);
    }

    /** Returns whether any block has a property. Runs in every step, so it allocates nothing. */
    private static boolean anyBlock(ModelSpec spec, Predicate<BlockSpec> property) {
        for (int i = 0; i < spec.layers(); i++) {
            if (property.test(spec.block(i))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether the GEMMs of a block can fuse the norm. They then read the residual stream in the model's type; with RMS norm the
     * stream exceeds the range of fp16.
     */
    public boolean fusesNorm() {
        if (plainAttention() && !spec.mlp().gated()) {
            return normsAre(Kind.LAYER);
        }
        return !plainAttention() && spec.mlp().gated() && normsAre(Kind.RMS) && type == ElementType.BF16;
    }

    /** Returns whether the LM head can fuse its norm. */
    public boolean fusesHeadNorm() {
        return fusesNorm() && normsAre(Kind.LAYER);
    }

    /** Returns the weights in a layer's matrices in this shard, unpadded. */
    public long layerWeights() {
        long heads = 2L * heads() + 2L * kvHeads(); // queries and attention's output, keys and values
        long inner = (spec.mlp().gated() ? 3L : 2L) * shard.share(spec.mlp().inner());
        return spec.width() * (heads * spec.attention().headSize() + inner);
    }

    /** Returns the padded columns of the residual stream. */
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

    /** Returns whether the KV cache is fp8. */
    public boolean fp8KvCache() {
        return kvCacheDtype == KvPrecision.FP8;
    }

    /** Returns the bytes of a KV element. */
    public int kvElementBytes() {
        return fp8KvCache() ? 1 : type.bytes();
    }

    /** Returns the elements of a page of {@link KvPages#TOKENS} in one layer. */
    long pageElements() {
        return 2L * kvWidth() * KvPages.TOKENS;
    }

    /** Returns the bytes of a KV block in one layer. */
    public long layerBlockBytes(int blockSize) {
        return 2L * kvWidth() * blockSize * kvElementBytes();
    }
}
