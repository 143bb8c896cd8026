package io.roseinfer.model;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.model.BlockSpec.Attention;
import io.roseinfer.model.BlockSpec.Norm;
import io.roseinfer.model.BlockSpec.Residual;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * What a model may have beyond the plain block: layer norms, learned positions, as many heads of keys and values as of queries,
 * and two matrices in the MLP. A backend says which of these it can run, and refuses a model that has another.
 */
public enum Trait {
    RMS_NORM(
            "RMS norms",
            spec -> spec.head().norm().kind() == Norm.Kind.RMS
                    || any(spec, block -> block.norm().kind() == Norm.Kind.RMS)),
    ROTARY_POSITIONS("rotary positions", spec -> any(spec, block -> block.positions() instanceof Positions.Rope)),
    NO_POSITIONS("blocks without positions", spec -> any(spec, block -> block.positions() instanceof Positions.None)),
    GROUPED_HEADS(
            "fewer heads of keys and values than of queries",
            spec -> spec.attention().kvHeads() != spec.attention().heads()),
    OTHER_QUERY_WIDTH(
            "heads that are together not as wide as the residual stream",
            spec -> spec.attention().queryWidth() != spec.width()),
    HEAD_NORMS("norms over heads", spec -> any(spec, block -> block.attention().headNorms())),
    WINDOW("sliding windows", spec -> any(spec, block -> block.attention().window() != Attention.UNLIMITED)),
    SOFT_CAP(
            "soft caps",
            spec -> Float.isFinite(spec.head().softCap())
                    || any(spec, block -> Float.isFinite(block.attention().softCap()))),
    GATED_MLP("gated MLPs", spec -> spec.mlp().gated()),
    PARALLEL_RESIDUAL(
            "attention and MLP side by side", spec -> any(spec, block -> block.residual() == Residual.PARALLEL)),
    POST_NORMS("norms behind attention and MLP", spec -> any(spec, block -> block.residual() == Residual.NORMED)),
    EMBEDDING_SCALE("a scaled token embedding", spec -> spec.embeddingScale() != 1);

    private final String title;
    private final Predicate<ModelSpec> has;

    Trait(String title, Predicate<ModelSpec> has) {
        this.title = title;
        this.has = has;
    }

    private static boolean any(ModelSpec spec, Predicate<BlockSpec> block) {
        return spec.blocks().stream().anyMatch(block);
    }

    /** What a model has of these. */
    public static Set<Trait> of(ModelSpec spec) {
        Set<Trait> traits = EnumSet.noneOf(Trait.class);
        for (Trait trait : values()) {
            if (trait.has.test(spec)) {
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
    public static void require(ModelSpec spec, Set<Trait> supported, String backend) {
        List<String> missing = new ArrayList<>();
        for (Trait trait : of(spec)) {
            if (!supported.contains(trait)) {
                missing.add(trait.title);
            }
        }
        if (!missing.isEmpty()) {
            throw new BadModel(spec.name() + " has " + String.join(", ", missing) + "; device " + backend
                    + " runs no model that has " + (missing.size() == 1 ? "this" : "these")
                    + ", so choose another model or another --device");
        }
    }
}
