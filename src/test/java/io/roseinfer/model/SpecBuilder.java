package io.roseinfer.model;

import io.roseinfer.model.BlockSpec.Attention;
import io.roseinfer.model.BlockSpec.Mlp;
import io.roseinfer.model.BlockSpec.Norm;
import io.roseinfer.model.BlockSpec.Residual;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/** Builds shapes for tests: by default a small plain model. */
public final class SpecBuilder {
    private final String name;
    private int vocabulary = 1000;
    private int context = 64;
    private int width = 8;
    private int layers = 1;
    private int heads = 1;
    private int kvHeads;
    private int headSize;
    private int inner;
    private Activation activation = Activation.RELU;
    private boolean gated;
    private Norm norm = Norm.layer(1e-5f);
    private IntFunction<Positions> positions = layer -> new Positions.Learned();
    private IntUnaryOperator window = layer -> Attention.UNLIMITED;
    private Residual residual = Residual.SEQUENTIAL;
    private boolean qkNorms;
    private boolean scaleByLayer;
    private boolean tied = true;
    private List<Integer> endOfText = List.of();

    private SpecBuilder(String name) {
        this.name = name;
    }

    public static SpecBuilder named(String name) {
        return new SpecBuilder(name);
    }

    public SpecBuilder vocabulary(int size) {
        vocabulary = size;
        return this;
    }

    public SpecBuilder context(int tokens) {
        context = tokens;
        return this;
    }

    /** Size of the residual stream. */
    public SpecBuilder width(int size) {
        width = size;
        return this;
    }

    public SpecBuilder layers(int count) {
        layers = count;
        return this;
    }

    /** Sets the number of heads, which together are as wide as the residual stream. */
    public SpecBuilder heads(int count) {
        return heads(count, count, 0);
    }

    /** Sets the numbers of query heads and KV heads, and their size. */
    public SpecBuilder heads(int queries, int keys, int size) {
        heads = queries;
        kvHeads = keys;
        headSize = size;
        return this;
    }

    /** Sets the width between the matrices of the MLP; by default the width of the residual stream. */
    public SpecBuilder inner(int size) {
        inner = size;
        return this;
    }

    public SpecBuilder activation(Activation function) {
        activation = function;
        return this;
    }

    public SpecBuilder gated() {
        gated = true;
        return this;
    }

    public SpecBuilder norm(Norm other) {
        norm = other;
        return this;
    }

    public SpecBuilder positions(Positions other) {
        return positions(layer -> other);
    }

    /** Sets a position encoding per layer. */
    public SpecBuilder positions(IntFunction<Positions> ofLayer) {
        positions = ofLayer;
        return this;
    }

    /** Sets the window of a layer. */
    public SpecBuilder window(IntUnaryOperator ofLayer) {
        window = ofLayer;
        return this;
    }

    /** Lets attention and MLP read the same residual stream. */
    public SpecBuilder parallel() {
        residual = Residual.PARALLEL;
        return this;
    }

    /** Normalizes every query head and key head. */
    public SpecBuilder qkNorms() {
        qkNorms = true;
        return this;
    }

    /** Divides scores by the layer's number, too. */
    public SpecBuilder scaleByLayer() {
        scaleByLayer = true;
        return this;
    }

    public SpecBuilder untied() {
        tied = false;
        return this;
    }

    public SpecBuilder endOfText(Integer... ids) {
        endOfText = List.of(ids);
        return this;
    }

    public ModelSpec build() {
        int size = headSize == 0 ? width / heads : headSize;
        Mlp mlp = new Mlp(inner == 0 ? width : inner, activation, gated);
        List<BlockSpec> blocks = IntStream.range(0, layers)
                .mapToObj(layer -> new BlockSpec(attention(size, layer), mlp, norm, positions.apply(layer), residual))
                .toList();
        ModelSpec.Head head = ModelSpec.Head.plain(norm, tied);
        return new ModelSpec(name, vocabulary, context, width, 1, blocks, head, endOfText);
    }

    private Attention attention(int size, int layer) {
        float scale = (float) (1 / Math.sqrt(size) / (scaleByLayer ? layer + 1 : 1));
        int shared = kvHeads == 0 ? heads : kvHeads;
        int seen = window.applyAsInt(layer);
        return new Attention(heads, shared, size, scale, seen, Float.POSITIVE_INFINITY, qkNorms);
    }
}
