package io.roseinfer.model.family;

import io.roseinfer.base.Limits;
import io.roseinfer.hub.KnownModels.MovedId;
import io.roseinfer.model.Activation;
import io.roseinfer.model.BlockSpec;
import io.roseinfer.model.BlockSpec.Attention;
import io.roseinfer.model.BlockSpec.Mlp;
import io.roseinfer.model.BlockSpec.Norm;
import io.roseinfer.model.BlockSpec.Residual;
import io.roseinfer.model.ConfigJson;
import io.roseinfer.model.Matrix;
import io.roseinfer.model.Matrix.Layout;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions;
import io.roseinfer.model.TensorFinder;
import io.roseinfer.model.Weights;
import io.roseinfer.model.Weights.Block;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.Tokenizers;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * GPT-2: layer norms with bias, learned positions, as many KV heads as query heads, an MLP of two matrices. The
 * matrices of its blocks are Conv1D weights, stored [in, out]; embeddings and head are [rows, width]. Names may have
 * the {@code transformer.} prefix. Training fields (dropout, initializer range, summary heads) are not read.
 */
final class Gpt2 implements Family {
    private static final String PREFIX = "transformer.";
    private static final String HEAD = "lm_head.weight";

    private static final int VOCABULARY = 50257;

    /** The default end of text, as in transformers: {@code <|endoftext|>} of GPT-2's vocabulary. */
    private static final int END_OF_TEXT = 50256;

    /** Largest usual multiple to which trainers pad the vocabulary; multiples are powers of two. */
    private static final int MAX_PADDING_MULTIPLE = 128;

    /** The causal mask, which older versions of transformers saved with every layer. */
    private static final Pattern MASK_BUFFER = Pattern.compile("(transformer\\.)?h\\.\\d+\\.attn\\.(masked_)?bias");

    @Override
    public Set<String> modelTypes() {
        return Set.of("gpt2");
    }

    @Override
    public ModelSpec spec(String name, ConfigJson config) {
        int width = config.dimension("n_embd", "hidden_size", 768);
        int layers = config.dimension("n_layer", "num_hidden_layers", 12, Limits.MODEL_LAYERS);
        int heads = config.dimension("n_head", "num_attention_heads", 12);
        int vocabulary = config.dimension("vocab_size", VOCABULARY);
        if (width % heads != 0) {
            throw config.refusal(
                    "n_embd is " + width + " and n_head is " + heads + "; n_embd must be a multiple of n_head");
        }
        int headSize = width / heads;
        int context = config.dimension("n_positions", "max_position_embeddings", 1024);
        Mlp mlp = new Mlp(config.dimension("n_inner", 4 * width), activation(config), false);
        Norm norm = Norm.layer(config.epsilon("layer_norm_epsilon", 1e-5f));
        double scale = config.flag("scale_attn_weights", true) ? 1.0 / Math.sqrt((double) headSize) : 1.0;
        boolean byLayer = config.flag("scale_attn_by_inverse_layer_idx", false);
        List<BlockSpec> blocks = IntStream.range(0, layers)
                .mapToObj(layer -> (float) (byLayer ? scale / (layer + 1) : scale))
                .map(own -> block(Attention.plain(heads, headSize, own), mlp, norm))
                .toList();
        return new ModelSpec(
                name,
                vocabulary,
                context,
                width,
                1,
                blocks,
                ModelSpec.Head.plain(norm, config.flag("tie_word_embeddings", true)),
                config.endOfText(vocabulary).orElseGet(() -> defaultEndOfText(vocabulary)));
    }

    private static BlockSpec block(Attention attention, Mlp mlp, Norm norm) {
        return new BlockSpec(attention, mlp, norm, new Positions.Learned(), Residual.SEQUENTIAL);
    }

    private static List<Integer> defaultEndOfText(int vocabulary) {
        return END_OF_TEXT < vocabulary ? List.of(END_OF_TEXT) : List.of();
    }

    private static Activation activation(ConfigJson config) {
        String name = config.text("activation_function", "gelu_new");
        return switch (name) {
            case "gelu_new", "gelu_pytorch_tanh" -> Activation.GELU_TANH;
            case "gelu" -> Activation.GELU_ERF;
            case "relu" -> Activation.RELU;
            default ->
                throw config.refusal("activation_function is \"" + name
                        + "\"; supported are gelu_new, gelu_pytorch_tanh, gelu and relu");
        };
    }

    @Override
    public Set<String> fieldsWithoutEffect() {
        return Set.of(
                "n_ctx",
                "reorder_and_upcast_attn",
                "summary_activation",
                "summary_first_dropout",
                "summary_proj_to_labels",
                "summary_type",
                "summary_use_proj");
    }

    @Override
    public Weights weights(ModelSpec spec, TensorFinder finder) {
        TensorFinder tensors = finder.withOptionalPrefix(PREFIX);
        int width = spec.width();
        Matrix embedding = tensors.matrix("wte.weight", width, spec.vocabularySize(), Layout.OUT_IN);
        Matrix positions = tensors.matrix("wpe.weight", width, spec.contextLength(), Layout.OUT_IN);
        List<Block> blocks = IntStream.range(0, spec.layers())
                .mapToObj(layer -> block(spec, tensors, "h." + layer))
                .toList();
        Weights.Norm norm = norm(tensors, "ln_f", width);
        Matrix head = spec.tiedHead() && !tensors.has(HEAD)
                ? embedding
                : tensors.matrix(HEAD, width, spec.vocabularySize(), Layout.OUT_IN);
        return new Weights(finder.description(), embedding, Optional.of(positions), blocks, norm, head);
    }

    /** Looks up one block; queries, keys and values are one tensor, [width, 3·width]. */
    private static Block block(ModelSpec spec, TensorFinder tensors, String name) {
        int width = spec.width();
        int inner = spec.mlp().inner();
        return Block.plain(
                norm(tensors, name + ".ln_1", width),
                linear(tensors, name + ".attn.c_attn", width, 3 * width),
                linear(tensors, name + ".attn.c_proj", width, width),
                norm(tensors, name + ".ln_2", width),
                linear(tensors, name + ".mlp.c_fc", width, inner),
                linear(tensors, name + ".mlp.c_proj", inner, width));
    }

    private static Weights.Norm norm(TensorFinder tensors, String name, int width) {
        return new Weights.Norm(
                tensors.vector(name + ".weight", width), Optional.of(tensors.vector(name + ".bias", width)));
    }

    private static Matrix linear(TensorFinder tensors, String name, int inputs, int outputs) {
        return tensors.matrix(
                name + ".weight", inputs, outputs, Layout.IN_OUT, Optional.of(tensors.vector(name + ".bias", outputs)));
    }

    @Override
    public boolean ignores(String tensor) {
        return MASK_BUFFER.matcher(tensor).matches();
    }

    @Override
    public List<ModelSpec> shapes() {
        return List.of(
                shape("gpt2", 768, 12, 12),
                shape("gpt2-medium", 1024, 24, 16),
                shape("gpt2-large", 1280, 36, 20),
                shape("gpt2-xl", 1600, 48, 25));
    }

    private static ModelSpec shape(String name, int width, int layers, int heads) {
        int headSize = width / heads;
        Attention attention = Attention.plain(heads, headSize, (float) (1.0 / Math.sqrt((double) headSize)));
        Norm norm = Norm.layer(1e-5f);
        BlockSpec block = block(attention, new Mlp(4 * width, Activation.GELU_TANH, false), norm);
        return new ModelSpec(
                name,
                VOCABULARY,
                1024,
                width,
                1,
                Collections.nCopies(layers, block),
                ModelSpec.Head.plain(norm, true),
                List.of(END_OF_TEXT));
    }

    @Override
    public List<MovedId> movedHubIds() {
        return List.of(
                new MovedId("gpt2", "openai-community/gpt2"),
                new MovedId("gpt2-medium", "openai-community/gpt2-medium"),
                new MovedId("gpt2-large", "openai-community/gpt2-large"),
                new MovedId("gpt2-xl", "openai-community/gpt2-xl"),
                new MovedId("distilgpt2", "distilbert/distilgpt2"));
    }

    @Override
    public boolean ownsTokenizerClass() {
        return true;
    }

    /** Returns GPT-2's tokenizer if a vocabulary has its size, exactly or padded. */
    @Override
    public Optional<Tokenizer> builtinVocabulary(int vocabularySize) {
        boolean fits = vocabularySize == VOCABULARY;
        for (int multiple = 8; multiple <= MAX_PADDING_MULTIPLE; multiple *= 2) {
            fits |= vocabularySize == Math.ceilDiv(VOCABULARY, multiple) * multiple;
        }
        return fits ? Optional.of(Tokenizers.gpt2()) : Optional.empty();
    }
}
