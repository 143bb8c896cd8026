package io.roseinfer.model;

import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.model.BlockSpec.Attention;
import io.roseinfer.model.BlockSpec.Norm.Kind;
import io.roseinfer.model.BlockSpec.Residual;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * A feature of a model beyond the plain block of GPT-2: layer norms, learned positions, as many KV heads as query
 * heads, and two matrices in the MLP. A backend lists the features it supports, and rejects models with others.
 */
public enum ModelFeature {
    RMS_NORM("RMS norm"),
    ROPE("RoPE"),
    PARTIAL_ROPE("RoPE on a part of each head"),
    NO_POSITIONS("layers without position encoding"),
    GROUPED_QUERY_ATTENTION("grouped-query attention"),
    OTHER_QUERY_WIDTH("a query width other than the residual stream's"),
    QK_NORM("QK norm"),
    WINDOW("sliding-window attention"),
    SOFT_CAP("soft-capped scores or logits"),
    GATED_MLP("gated MLPs"),
    PARALLEL_RESIDUAL("parallel attention and MLP"),
    POST_NORMS("norms after attention and MLP"),
    EMBEDDING_SCALE("a scaled token embedding");

    private final String title;

    ModelFeature(String title) {
        this.title = title;
    }

    private boolean isIn(ModelSpec spec) {
        return switch (this) {
            case RMS_NORM ->
                spec.head().norm().kind() == Kind.RMS
                        || any(spec, block -> block.norm().kind() == Kind.RMS);
            case ROPE -> any(spec, block -> block.positions() instanceof Positions.Rope);
            case PARTIAL_ROPE -> any(spec, ModelFeature::isPartialRope);
            case NO_POSITIONS -> any(spec, block -> block.positions() instanceof Positions.None);
            case GROUPED_QUERY_ATTENTION ->
                spec.attention().kvHeads() != spec.attention().heads();
            case OTHER_QUERY_WIDTH -> spec.attention().queryWidth() != spec.width();
            case QK_NORM -> any(spec, block -> block.attention().qkNorms());
            case WINDOW -> any(spec, block -> block.attention().window() != Attention.UNLIMITED);
            case SOFT_CAP ->
                Float.isFinite(spec.head().softCap())
                        || any(spec, block -> Float.isFinite(block.attention().softCap()));
            case GATED_MLP -> spec.mlp().gated();
            case PARALLEL_RESIDUAL -> any(spec, block -> block.residual() == Residual.PARALLEL);
            case POST_NORMS -> any(spec, block -> block.residual() == Residual.POST_NORM);
            case EMBEDDING_SCALE -> spec.embeddingScale() != 1;
        };
    }

    private static boolean isPartialRope(BlockSpec block) {
        return block.positions() instanceof Positions.Rope rope
                && rope.rotarySize() < block.attention().headSize();
    }

    private static boolean any(ModelSpec spec, Predicate<BlockSpec> block) {
        return spec.blocks().stream().anyMatch(block);
    }

    /** The traits that a model has. */
    public static Set<ModelFeature> of(ModelSpec spec) {
        Set<ModelFeature> traits = EnumSet.noneOf(ModelFeature.class);
        for (ModelFeature trait : values()) {
            if (trait.isIn(spec)) {
                traits.add(trait);
            }
        }
        return traits;
    }

    /**
     * Throws unless a backend can run a model.
     *
     * @param supported what the backend can run
     * @param backend its name
     * @throws BadModel naming what it cannot run
     */
    public static void require(ModelSpec spec, Set<ModelFeature> supported, String backend) {
        List<String> missing = new ArrayList<>();
        for (ModelFeature trait : of(spec)) {
            if (!supported.contains(trait)) {
                missing.add(trait.title);
            }
        }
        if (!missing.isEmpty()) {
            throw new BadModel(
                    spec.name() + " has " + String.join(", ", missing) + "; device " + backend + " does not support "
                            + (missing.size() == 1 ? "this" : "these"),
                    Remedy.of("choose another model or another %s", "device"));
        }
    }
}
