package io.roseinfer.backend.cuda;

import io.roseinfer.backend.KvPrecision;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.model.Activation;
import io.roseinfer.model.BlockSpec;
import io.roseinfer.model.BlockSpec.Norm.Kind;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions.Rope;
import io.roseinfer.model.Trait;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Predicate;

/**
 * A model's sizes as the kernels lay them out: heads padded to a multiple of 16, everything a GEMM touches to a multiple of 128.
 *
 * @param type of activations
 * @param weights the type of the matrices, which is another one only for {@link ElementType#INT8}
 * @param kvCacheDtype how keys and values are held: as the activations are, or narrower
 * @param shard the part of the model that the sizes are of
 * @param headPad padded size of a head
 */
record ModelShape(ModelSpec spec, ElementType type, ElementType weights, KvPrecision kvCacheDtype, Shard shard, int headPad) {
    /** What rows and columns of a matrix are padded to. */
    static final int TILE = 128;

    private static final int MAX_HEAD_SIZE = 256;
    private static final Set<Trait> SUPPORTED = Set.of(
            Trait.RMS_NORM,
            Trait.ROTARY_POSITIONS,
            Trait.PARTIAL_ROTARY,
            Trait.NO_POSITIONS,
            Trait.GROUPED_HEADS,
            Trait.OTHER_QUERY_WIDTH,
            Trait.HEAD_NORMS,
            Trait.WINDOW,
            Trait.GATED_MLP,
            Trait.PARALLEL_RESIDUAL);

    /** What the kernels compute behind the first matrix of an MLP; they take what they do not know for ReLU. */
    private static final Set<Activation> PLAIN = EnumSet.of(Activation.GELU_TANH, Activation.GELU_ERF, Activation.RELU);

    /** The same where a gate multiplies it. */
    private static final Set<Activation> GATED =
            EnumSet.of(Activation.GELU_TANH, Activation.GELU_ERF, Activation.RELU, Activation.SILU);

    /**
     * The sizes of a model.
     *
     * @param weights the type of its matrices
     * @throws BadModel if it has what the kernels cannot run: a trait that they do not know, heads that are too large, another
     *     activation, weights, keys or values of one byte in a block that their kernels are not for, or heads or inner columns that
     *     the devices cannot share evenly
     */
    public static ModelShape of(ModelSpec spec, ElementType weights, KvPrecision kvCacheDtype, Shard shard) {
        Trait.require(spec, SUPPORTED, "cuda");
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
        requireShares(spec, shard, spec.attention().kvHeads(), "heads of keys and values");
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
                    spec.name() + " has learned positions and a head of keys for each of queries; fp8 keys and"
                            + " values have kernels for other models alone",
                    Remedy.of("use %s auto", "kv_cache_dtype"));
        }
        return shape;
    }

    /** The kernels for weights of one byte scale behind RMS norms and have no other epilogues than those of such models. */
    private static void requireInt8(ModelSpec spec) {
        String other = "";
        if (!normsAre(spec, Kind.RMS)) {
            other = "layer norms";
        } else if (spec.learnsPositions()) {
            other = "learned positions";
        } else if (!spec.mlp().gated()) {
            other = "an MLP without a gate";
        } else if (Trait.of(spec).contains(Trait.PARALLEL_RESIDUAL)) {
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

    /** Attention heads of this part. */
    public int heads() {
        return shard.share(spec.attention().heads());
    }

    /** Heads of keys and values of this part. */
    public int kvHeads() {
        return shard.share(spec.attention().kvHeads());
    }

    /** All padded heads side by side. */
    public int attention() {
        return heads() * headPad;
    }

    /** All padded heads of keys side by side, or of values. */
    public int kvWidth() {
        return kvHeads() * headPad;
    }

    /**
     * Whether queries, keys and values go from their GEMM to where attention reads them as they are: as many heads of each, which
     * neither turn nor are normalised.
     */
    public boolean plainAttention() {
        return spec.learnsPositions() && kvHeads() == heads() && !headNorms();
    }

    /** Whether heads of queries and keys are normalised one by one, in any block. */
    public boolean headNorms() {
        return anyBlock(block -> block.attention().headNorms());
    }

    /** Whether any block sees less than the whole context. */
    public boolean hasWindows() {
        int context = spec.contextLength();
        return anyBlock(block -> block.attention().window() < context);
    }

    /** How many elements of a head turn in a block. */
    public static int rotarySize(BlockSpec block) {
        return block.positions() instanceof Rope rope ? rope.rotarySize() : 0;
    }

    private boolean normsAre(Kind kind) {
        return normsAre(spec, kind);
    }

    /** Whether every norm over the residual stream is of a kind. */
    private static boolean normsAre(ModelSpec spec, Kind kind) {
        return spec.head().norm().kind() == kind
                && !anyBlock(spec, block -> block.norm().kind() != kind);
    }

    private boolean anyBlock(Predicate<BlockSpec> property) {
        return anyBlock(spec, property);
    }

    /** Asked for every step, so nothing is allocated. */
    private static boolean anyBlock(ModelSpec spec, Predicate<BlockSpec> property) {
        for (int i = 0; i < spec.layers(); i++) {
            if (property.test(spec.block(i))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether the GEMMs of a block can normalise what they read by themselves. They then read the residual stream rounded to the
     * model's type; the stream of models with RMS norms has entries beyond the range of float16.
     */
    public boolean fusesNorm() {
        if (plainAttention() && !spec.mlp().gated()) {
            return normsAre(Kind.LAYER);
        }
        return !plainAttention() && spec.mlp().gated() && normsAre(Kind.RMS) && type == ElementType.BF16;
    }

    /** Whether the head's GEMM can. */
    public boolean fusesHeadNorm() {
        return fusesNorm() && normsAre(Kind.LAYER);
    }

    /** Weights in the matrices of a layer, those of this part, without padding. */
    public long layerWeights() {
        long heads = 2L * heads() + 2L * kvHeads(); // queries and attention's output, keys and values
        long inner = (spec.mlp().gated() ? 3L : 2L) * shard.share(spec.mlp().inner());
        return spec.width() * (heads * spec.attention().headSize() + inner);
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

    /** Whether keys and values are held as fp8. */
    public boolean fp8KvCache() {
        return kvCacheDtype == KvPrecision.FP8;
    }

    /** Bytes of an element of a key or a value. */
    public int kvElementBytes() {
        return fp8KvCache() ? 1 : type.bytes();
    }

    /** Bytes that one KV block takes in one layer. */
    public long layerBlockBytes(int blockSize) {
        return 2L * kvWidth() * blockSize * kvElementBytes();
    }
}
