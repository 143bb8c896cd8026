package io.roseinfer.model;

import io.roseinfer.model.BlockSpec.Attention;
import io.roseinfer.model.BlockSpec.Norm.Kind;
import io.roseinfer.model.Matrix.Layout;
import io.roseinfer.model.Weights.Block;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A checkpoint layout of no family, for tests independent of families: a tensor {@code WHAT.gain}, {@code WHAT.matrix}
 * or {@code WHAT.bias} for every part of the tree. RMS norms and their matrices have no biases.
 */
public final class TestLayout {
    public static final String POSITIONS = "positions.matrix";

    private TestLayout() {}

    /** Seeded random weights of any shape. */
    public static Weights random(ModelSpec spec, long seed) {
        RandomWeights source = new RandomWeights(spec.name(), seed, tensors -> weights(spec, tensors));
        return weights(spec, new CheckpointTensors(source));
    }

    /** Looks every tensor up. */
    public static Weights weights(ModelSpec spec, TensorFinder tensors) {
        Matrix embedding = tensors.matrix("embedding.matrix", spec.width(), spec.vocabularySize(), Layout.OUT_IN);
        Optional<Matrix> positions = spec.learnsPositions()
                ? Optional.of(tensors.matrix(POSITIONS, spec.width(), spec.contextLength(), Layout.OUT_IN))
                : Optional.empty();
        return new Weights(
                tensors.description(),
                embedding,
                positions,
                IntStream.range(0, spec.layers())
                        .mapToObj(layer -> block(spec, tensors, layer))
                        .toList(),
                norm(tensors, "norm", spec.width(), spec.head().norm()),
                spec.tiedHead()
                        ? embedding
                        : tensors.matrix("head.matrix", spec.width(), spec.vocabularySize(), Layout.OUT_IN));
    }

    private static Block block(ModelSpec spec, TensorFinder tensors, int layer) {
        String name = "blocks." + layer + ".";
        BlockSpec block = spec.block(layer);
        Attention attention = block.attention();
        int width = spec.width();
        boolean biased = block.norm().kind() == Kind.LAYER;
        Optional<Weights.QkNorms> qkNorms = attention.qkNorms()
                ? Optional.of(new Weights.QkNorms(
                        norm(tensors, name + "query-norm", attention.headSize(), block.norm()),
                        norm(tensors, name + "key-norm", attention.headSize(), block.norm())))
                : Optional.empty();
        return new Block(
                norm(tensors, name + "attention-norm", width, block.norm()),
                linear(tensors, name + "qkv", width, attention.qkvWidth(), biased),
                qkNorms,
                linear(tensors, name + "output", attention.queryWidth(), width, biased),
                norm(tensors, name + "mlp-norm", width, block.norm()),
                linear(tensors, name + "inner", width, block.mlp().outputs(), biased),
                linear(tensors, name + "down", block.mlp().inner(), width, biased),
                Optional.empty());
    }

    private static Weights.Norm norm(TensorFinder tensors, String name, int width, BlockSpec.Norm norm) {
        return new Weights.Norm(
                tensors.vector(name + ".gain", width),
                norm.kind() == Kind.LAYER ? Optional.of(tensors.vector(name + ".bias", width)) : Optional.empty());
    }

    private static Matrix linear(TensorFinder tensors, String name, int inputs, int outputs, boolean biased) {
        return tensors.matrix(
                name + ".matrix",
                inputs,
                outputs,
                Layout.IN_OUT,
                biased ? Optional.of(tensors.vector(name + ".bias", outputs)) : Optional.empty());
    }
}
