package io.roseinfer.model;

import io.roseinfer.tensor.DType;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The weights of a model as a forward pass meets them, whatever its family calls them: a tree of matrices and vectors that know
 * where to read their values. Shapes have been held against the {@link ModelSpec}; no value has been read.
 *
 * @param description what messages call the checkpoint
 * @param embedding the token embedding: a row of the residual stream's width per token
 * @param positions likewise per position, if the model learns positions
 * @param norm behind the last block
 * @param head from the residual stream to logits; the very {@code embedding} where the head is tied
 */
public record Weights(
        String description, Matrix embedding, Optional<Matrix> positions, List<Block> blocks, Norm norm, Matrix head) {

    /**
     * One transformer block.
     *
     * @param qkv queries, keys and values, one after another, each head by head
     * @param qkNorms over every head of queries and of keys, if the block has them
     * @param output from the heads to the residual stream
     * @param inner into the MLP: with a gate, first all outputs of the gate, then what it is multiplied by
     * @param down out of the MLP
     * @param postNorms over what attention and MLP add to the residual stream, if the block has them
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

        /** A block without norms over heads or over what it adds. */
        public static Block plain(
                Norm attentionNorm, Matrix qkv, Matrix output, Norm mlpNorm, Matrix inner, Matrix down) {
            return new Block(attentionNorm, qkv, Optional.empty(), output, mlpNorm, inner, down, Optional.empty());
        }
    }

    /** Gain and bias of a normalisation. */
    public record Norm(Vector weight, Optional<Vector> bias) {}

    /** The norms over a head's elements, the same for all heads. */
    public record QkNorms(Norm queries, Norm keys) {}

    /** The norms over what the halves of a block add to the residual stream. */
    public record PostNorms(Norm attention, Norm mlp) {}

    public Weights {
        blocks = List.copyOf(blocks);
    }

    /** Whether the token embedding is also the output matrix. */
    public boolean tiedHead() {
        return head.equals(embedding);
    }

    /** The same weights with another output matrix. */
    public Weights withHead(Matrix other) {
        return new Weights(description, embedding, positions, blocks, norm, other);
    }

    /** The same weights with the first {@code count} rows of learned positions. */
    public Weights withPositions(int count) {
        return new Weights(description, embedding, positions.map(rows -> rows.firstRows(count)), blocks, norm, head);
    }

    /** The same weights without the last blocks. */
    public Weights withLayers(int layers) {
        return new Weights(description, embedding, positions, blocks.subList(0, layers), norm, head);
    }

    /** The matrices that activations are multiplied by, which are held in the precision asked for; the embedding, tied or not, included. */
    private Stream<Matrix> products() {
        return Stream.concat(
                Stream.of(embedding, head),
                blocks.stream().flatMap(block -> Stream.of(block.qkv(), block.output(), block.inner(), block.down())));
    }

    /** The type all matrices are stored in, or F32, which holds every other, where they are of different types. */
    public DType matrixType() {
        Set<DType> types = EnumSet.noneOf(DType.class);
        products().flatMap(Matrix::types).forEach(types::add);
        return types.size() == 1 ? types.iterator().next() : DType.F32;
    }
}
