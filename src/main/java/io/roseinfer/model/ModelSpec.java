package io.roseinfer.model;

import io.roseinfer.base.Check;
import io.roseinfer.model.BlockSpec.Attention;
import io.roseinfer.model.BlockSpec.Mlp;
import io.roseinfer.model.BlockSpec.Norm;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The shape and the constants of a decoder-only transformer: everything a forward pass needs except the weights.
 *
 * @param name the model's name in reports
 * @param vocabularySize rows of the token embedding, and width of the logits
 * @param contextLength maximum tokens of a sequence, prompt and completion together
 * @param width size of the residual stream
 * @param embeddingScale factor of the token embedding; 1 in most models
 * @param blocks at least one; number and size of the heads, and the MLP, are the same in all blocks
 * @param head maps the residual stream to logits
 * @param endOfText ids that end a completion, each below {@code vocabularySize}; may be empty
 */
public record ModelSpec(
        String name,
        int vocabularySize,
        int contextLength,
        int width,
        float embeddingScale,
        List<BlockSpec> blocks,
        Head head,
        List<Integer> endOfText) {

    /**
     * The LM head, which maps the residual stream to logits.
     *
     * @param norm the norm after the last block
     * @param tied whether the token embedding is also the output matrix
     * @param softCap c, which maps a logit l to c·tanh(l / c); infinite without a cap
     */
    public record Head(Norm norm, boolean tied, float softCap) {
        /** Returns a head without a cap. */
        public static Head plain(Norm norm, boolean tied) {
            return new Head(norm, tied, Float.POSITIVE_INFINITY);
        }
    }

    public ModelSpec {
        blocks = List.copyOf(blocks);
        endOfText = List.copyOf(endOfText);
        Check.that(!blocks.isEmpty(), "a model has no blocks");
        for (BlockSpec block : blocks) {
            Check.that(isLike(block, blocks.getFirst()), "the blocks of a model are not of one size");
        }
    }

    private static boolean isLike(BlockSpec block, BlockSpec first) {
        return block.attention().heads() == first.attention().heads()
                && block.attention().kvHeads() == first.attention().kvHeads()
                && block.attention().headSize() == first.attention().headSize()
                && block.mlp().equals(first.mlp())
                && block.positions() instanceof Positions.Learned == first.positions() instanceof Positions.Learned;
    }

    /** Returns the sizes on which the time of a step depends, in words. */
    public String shape() {
        return layers() + " layers of width " + width + ", " + attention().heads() + " heads of "
                + attention().headSize() + ", " + attention().kvHeads() + " KV heads, MLP of "
                + mlp().inner() + ", vocabulary of " + vocabularySize;
    }

    /** Returns the number of transformer blocks. */
    public int layers() {
        return blocks.size();
    }

    /** Returns the block of a layer, counted from zero. */
    public BlockSpec block(int layer) {
        return blocks.get(layer);
    }

    /** Returns the attention of the first block, whose number and size of heads every block has. */
    public Attention attention() {
        return blocks.getFirst().attention();
    }

    /** Returns the MLP, which is the same in every block. */
    public Mlp mlp() {
        return blocks.getFirst().mlp();
    }

    /** Returns whether the token embedding is also the output matrix. */
    public boolean tiedHead() {
        return head.tied();
    }

    /** Returns whether the model has learned position embeddings. */
    public boolean learnsPositions() {
        return blocks.getFirst().positions() instanceof Positions.Learned;
    }

    /** Returns the same model with other ids that end a completion. */
    public ModelSpec withEndOfText(List<Integer> ids) {
        return new ModelSpec(name, vocabularySize, contextLength, width, embeddingScale, blocks, head, ids);
    }

    /** Returns the same model with another context length. */
    public ModelSpec withContextLength(int tokens) {
        return new ModelSpec(name, vocabularySize, tokens, width, embeddingScale, blocks, head, endOfText);
    }

    /** Returns the same model with a tied or untied head. */
    public ModelSpec withTiedHead(boolean tied) {
        Head other = new Head(head.norm(), tied, head.softCap());
        return new ModelSpec(name, vocabularySize, contextLength, width, embeddingScale, blocks, other, endOfText);
    }

    /** Returns the same model with changed blocks. */
    public ModelSpec withBlocks(BlockChange change) {
        List<BlockSpec> changed = IntStream.range(0, layers())
                .mapToObj(layer -> change.of(layer, block(layer)))
                .toList();
        return new ModelSpec(name, vocabularySize, contextLength, width, embeddingScale, changed, head, endOfText);
    }

    /** A change of a block, by its layer. */
    @FunctionalInterface
    public interface BlockChange {
        /** Returns the changed block. */
        BlockSpec of(int layer, BlockSpec block);
    }

    /** Returns the same model with only its first layers. */
    public ModelSpec withLayers(int layers) {
        List<BlockSpec> first = blocks.subList(0, layers);
        return new ModelSpec(name, vocabularySize, contextLength, width, embeddingScale, first, head, endOfText);
    }
}
