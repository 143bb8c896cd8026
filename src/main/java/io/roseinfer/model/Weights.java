package io.roseinfer.model;

import io.roseinfer.tensor.DType;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The weights of a model in the structure of a forward pass, regardless of their names in a family: a tree of matrices
 * and vectors that can read their values. Shapes have been checked against the {@link ModelSpec}; no value has been
 * read.
 *
 * @param description the checkpoint's name in messages
 * @param embedding the token embedding: a row of the residual stream's width per token
 * @param positions the position embedding, a row per position, if the model has one
 * @param norm the norm after the last block
 * @param head maps the residual stream to logits; the same object as {@code embedding} if tied
 */
public record Weights(
        String description, Matrix embedding, Optional<Matrix> positions, List<Block> blocks, Norm norm, Matrix head) {

    /**
     * One transformer block.
     *
     * @param qkv queries, keys and values, one after another, each head by head
     * @param qkNorms the norms of query and key heads, if the block has them
     * @param output the attention's output projection
     * @param inner the up projection of the MLP; with a gate, first all outputs of the gate, then of up
     * @param down the down projection of the MLP
     * @param postNorms the norms over the outputs of attention and MLP, if the block has them
     */
    public record Block(
            Norm attentionNorm,
            Matrix qkv,
            Optional<QkNorms> qkNorms,
            Matrix output,
            Norm mlpNorm,
            Matrix inner,
            Matrix down,
            Optional<PostNorms> postNorms) {

        /** Returns a block without QK norm and post-norms. */
        public static Block plain(
                Norm attentionNorm, Matrix qkv, Matrix output, Norm mlpNorm, Matrix inner, Matrix down) {
            return new Block(attentionNorm, qkv, Optional.empty(), output, mlpNorm, inner, down, Optional.empty());
        }
    }

    /** Weight and bias of a norm. */
    public record Norm(Vector weight, Optional<Vector> bias) {}

    /** The norms over a head's elements, the same for all heads. */
    public record QkNorms(Norm queries, Norm keys) {}

    /** The norms over the outputs of attention and MLP. */
    public record PostNorms(Norm attention, Norm mlp) {}

    public Weights {
        blocks = List.copyOf(blocks);
    }

    /** Returns whether the token embedding is also the output matrix. */
    public boolean tiedHead() {
        return head.equals(embedding);
    }

    /** Returns the same weights with another output matrix. */
    public Weights withHead(Matrix other) {
        return new Weights(description, embedding, positions, blocks, norm, other);
    }

    /** Returns the same weights with the first {@code count} rows of learned positions. */
    public Weights withPositions(int count) {
        return new Weights(description, embedding, positions.map(rows -> rows.firstRows(count)), blocks, norm, head);
    }

    /** Returns the same weights with only the first layers. */
    public Weights withLayers(int layers) {
        return new Weights(description, embedding, positions, blocks.subList(0, layers), norm, head);
    }

    /** Returns the matrices whose precision can be chosen, including the embedding. */
    private Stream<Matrix> products() {
        return Stream.concat(
                Stream.of(embedding, head),
                blocks.stream().flatMap(block -> Stream.of(block.qkv(), block.output(), block.inner(), block.down())));
    }

    /** Returns the type all matrices are stored in, or F32 if their types differ. */
    public DType matrixType() {
        Set<DType> types = EnumSet.noneOf(DType.class);
        products().flatMap(Matrix::types).forEach(types::add);
        return types.size() == 1 ? types.iterator().next() : DType.F32;
    }
}
