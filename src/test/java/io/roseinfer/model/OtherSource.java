package io.roseinfer.model;

import io.roseinfer.checkpoint.Checkpoint;
import java.util.Optional;

/** The weights of a model, read from another source with tensors of the same names. */
public final class OtherSource {
    private OtherSource() {}

    public static Weights of(Weights weights, Checkpoint source) {
        return new Weights(
                source.description(),
                matrix(weights.embedding(), source),
                weights.positions().map(table -> matrix(table, source)),
                weights.blocks().stream().map(block -> block(block, source)).toList(),
                norm(weights.norm(), source),
                matrix(weights.head(), source));
    }

    private static Weights.Block block(Weights.Block block, Checkpoint source) {
        return new Weights.Block(
                norm(block.attentionNorm(), source),
                matrix(block.qkv(), source),
                block.qkNorms()
                        .map(norms -> new Weights.QkNorms(norm(norms.queries(), source), norm(norms.keys(), source))),
                matrix(block.output(), source),
                norm(block.mlpNorm(), source),
                matrix(block.inner(), source),
                matrix(block.down(), source),
                block.postNorms()
                        .map(norms ->
                                new Weights.PostNorms(norm(norms.attention(), source), norm(norms.mlp(), source))));
    }

    private static Weights.Norm norm(Weights.Norm norm, Checkpoint source) {
        return new Weights.Norm(vector(norm.weight(), source), vector(norm.bias(), source));
    }

    private static Matrix matrix(Matrix matrix, Checkpoint source) {
        return new Matrix(
                matrix.parts().stream().map(part -> part(part, source)).toList(),
                matrix.inputs(),
                matrix.outputs(),
                matrix.layout(),
                vector(matrix.bias(), source));
    }

    private static Optional<Vector> vector(Optional<Vector> vector, Checkpoint source) {
        return vector.map(old -> vector(old, source));
    }

    private static Vector vector(Vector vector, Checkpoint source) {
        return new Vector(
                vector.parts().stream().map(part -> part(part, source)).toList(), vector.offset());
    }

    private static Outputs part(Outputs part, Checkpoint source) {
        StoredTensor tensor = new StoredTensor(source, part.tensor().name());
        return new Outputs(tensor, part.count(), part.first(), part.run(), part.stride());
    }
}
