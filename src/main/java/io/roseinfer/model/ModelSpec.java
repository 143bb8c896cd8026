package io.roseinfer.model;

import io.roseinfer.base.Check;
import io.roseinfer.model.BlockSpec.Attention;
import io.roseinfer.model.BlockSpec.Mlp;
import io.roseinfer.model.BlockSpec.Norm;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The shape and the constants of a decoder-only transformer: everything a forward pass needs to know besides the weights.
 *
 * @param name what reports call the model
 * @param vocabularySize rows of the token embedding, and the width of the logits
 * @param contextLength most tokens a sequence may have, prompt and completion together
 * @param width size of the residual stream
 * @param embeddingScale what a row of the token embedding is multiplied by; 1 in most models
 * @param blocks at least one; the heads' numbers and size, and the MLP, are the same in all of them
 * @param head from the residual stream to logits
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
     * From the residual stream to logits.
     *
     * @param norm over the residual stream, behind the last block
     * @param tied whether the token embedding is also the output matrix
     * @param softCap c, where a logit l becomes c·tanh(l / c); infinite where logits stay as they are
     */
    public record Head(Norm norm, boolean tied, float softCap) {
        /** A head without a cap. */
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

    /** Number of transformer blocks. */
    public int layers() {
        return blocks.size();
    }

    /** The block of a layer, counted from zero. */
    public BlockSpec block(int layer) {
        return blocks.get(layer);
    }

    /** The attention of the first block: that of every block in the numbers and the size of its heads. */
    public Attention attention() {
        return blocks.getFirst().attention();
    }

    /** The MLP of every block. */
    public Mlp mlp() {
        return blocks.getFirst().mlp();
    }

    /** Whether the token embedding is also the output matrix. */
    public boolean tiedHead() {
        return head.tied();
    }

    /** Whether a row per position is added to the token embedding. */
    public boolean learnsPositions() {
        return blocks.getFirst().positions() instanceof Positions.Learned;
    }

    /** The same model with other ids that end a completion. */
    public ModelSpec withEndOfText(List<Integer> ids) {
        return new ModelSpec(name, vocabularySize, contextLength, width, embeddingScale, blocks, head, ids);
    }

    /** The same model with another maximum of tokens per sequence. */
    public ModelSpec withContextLength(int tokens) {
        return new ModelSpec(name, vocabularySize, tokens, width, embeddingScale, blocks, head, endOfText);
    }

    /** The same model with the token embedding as its output matrix, or with one of its own. */
    public ModelSpec withTiedHead(boolean tied) {
        Head other = new Head(head.norm(), tied, head.softCap());
        return new ModelSpec(name, vocabularySize, contextLength, width, embeddingScale, blocks, other, endOfText);
    }

    /** The same model with its blocks changed, each by the number of its layer. */
    public ModelSpec withBlocks(BlockChange change) {
        List<BlockSpec> changed = IntStream.range(0, layers())
                .mapToObj(layer -> change.of(layer, block(layer)))
                .toList();
        return new ModelSpec(name, vocabularySize, contextLength, width, embeddingScale, changed, head, endOfText);
    }

    /** What {@link #withBlocks} does to a block. */
    @FunctionalInterface
    public interface BlockChange {
        /** The block of this layer in place of the one that was there. */
        BlockSpec of(int layer, BlockSpec block);
    }

    /** The same model without its last blocks. */
    public ModelSpec withLayers(int layers) {
        List<BlockSpec> first = blocks.subList(0, layers);
        return new ModelSpec(name, vocabularySize, contextLength, width, embeddingScale, first, head, endOfText);
    }
}
