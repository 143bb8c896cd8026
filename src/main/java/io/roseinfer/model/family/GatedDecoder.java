package io.roseinfer.model.family;

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
import io.roseinfer.model.Outputs;
import io.roseinfer.model.Positions.Rope;
import io.roseinfer.model.TensorFinder;
import io.roseinfer.model.Vector;
import io.roseinfer.model.Weights;
import io.roseinfer.model.Weights.Block;
import io.roseinfer.model.Weights.QkNorms;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Base of most decoder families: RMS norm, RoPE, GQA, a gated MLP. Matrices are stored [out, in]; query,
 * key and value projections are separate tensors, and so are gate and up. Names may have the {@code model.} prefix.
 */
final class GatedDecoder {
    private static final String PREFIX = "model.";
    private static final String HEAD = "lm_head.weight";

    /** Frequencies, which older versions of transformers saved with every layer. */
    private static final Pattern FREQUENCIES =
            Pattern.compile("(model\\.)?(layers\\.\\d+\\.self_attn\\.)?rotary_emb\\.inv_freq");

    private GatedDecoder() {}

    /** Which matrices have biases. */
    record Biases(boolean queriesKeysValues, boolean attentionOutput, boolean mlp) {
        static final Biases NONE = new Biases(false, false, false);

        /** Reads {@code attention_bias} and {@code mlp_bias}. */
        static Biases of(ConfigJson config) {
            boolean attention = config.flag("attention_bias", false);
            return new Biases(attention, attention, config.flag("mlp_bias", false));
        }
    }

    /**
     * Returns the shape that a configuration describes, with equal blocks and attention to all tokens.
     *
     * @param config with the family's defaults
     * @param endOfText the default ids that end a completion
     */
    static ModelSpec spec(String name, ConfigJson config, Integer... endOfText) {
        int vocabulary = config.dimension("vocab_size");
        int unscaled = config.dimension("max_position_embeddings");
        int width = config.dimension("hidden_size");
        Attention attention = attention(config, width);
        Mlp mlp = new Mlp(config.dimension("intermediate_size"), activation(config), true);
        Norm norm = Norm.rms(config.epsilon("rms_norm_eps", 1e-6f));
        Rope rope = RopeConfig.read(config, attention.headSize(), unscaled);
        BlockSpec block = new BlockSpec(attention, mlp, norm, rope, Residual.SEQUENTIAL);
        return new ModelSpec(
                name,
                vocabulary,
                RopeConfig.context(config, rope, unscaled),
                width,
                1,
                Collections.nCopies(config.layers("num_hidden_layers"), block),
                ModelSpec.Head.plain(norm, config.flag("tie_word_embeddings", false)),
                config.endOfText(vocabulary).orElseGet(() -> below(vocabulary, endOfText)));
    }

    private static List<Integer> below(int vocabulary, Integer... ids) {
        return Stream.of(ids).filter(id -> id < vocabulary).toList();
    }

    private static Attention attention(ConfigJson config, int width) {
        int heads = config.dimension("num_attention_heads");
        int kvHeads = config.dimension("num_key_value_heads", heads);
        if (heads % kvHeads != 0) {
            throw config.refusal("num_attention_heads is " + heads + " and num_key_value_heads is " + kvHeads
                    + "; num_attention_heads must be a multiple of num_key_value_heads");
        }
        if (!config.isSet("head_dim") && width % heads != 0) {
            throw config.refusal("hidden_size is " + width + " and num_attention_heads is " + heads
                    + "; without head_dim, hidden_size must be a multiple of num_attention_heads");
        }
        int size = config.dimension("head_dim", Math.max(1, width / heads));
        if (size % 2 != 0) {
            throw config.refusal("the head size is " + size + " (head_dim, or hidden_size / num_attention_heads);"
                    + " RoPE rotates pairs, so it must be even");
        }
        return attention(heads, kvHeads, size);
    }

    private static Attention attention(int heads, int kvHeads, int size) {
        float scale = (float) (1 / Math.sqrt(size));
        return new Attention(heads, kvHeads, size, scale, Attention.UNLIMITED, Float.POSITIVE_INFINITY, false);
    }

    /** Returns the activation that {@code hidden_act} names. */
    static Activation activation(ConfigJson config) {
        String name = config.text("hidden_act", "silu");
        return switch (name) {
            case "silu", "swish" -> Activation.SILU;
            case "gelu_new", "gelu_pytorch_tanh", "gelu_fast" -> Activation.GELU_TANH;
            case "gelu" -> Activation.GELU_ERF;
            case "relu" -> Activation.RELU;
            default ->
                throw config.refusal("hidden_act is \"" + name
                        + "\"; supported are silu, gelu_new, gelu_pytorch_tanh, gelu_fast, gelu and relu");
        };
    }

    /**
     * Returns the window of each layer, by {@code layer_types} or else the family's rule.
     *
     * @param window the window of layers that have one; empty if the file sets none
     * @param slides the family's rule, for files without {@code layer_types}
     */
    static ModelSpec.BlockChange windows(
            ConfigJson config, ModelSpec spec, Optional<Integer> window, LayerRule slides) {
        Optional<List<String>> listed =
                config.perLayer("layer_types", spec.layers(), "full_attention", "sliding_attention");
        if (window.isEmpty() && listed.isPresent() && listed.get().contains("sliding_attention")) {
            throw config.refusal(
                    "layer_types names sliding_attention, but no sliding_window is set, or use_sliding_window"
                            + " is false; correct one of them");
        }
        // A window as long as the context has no effect.
        int seen = window.filter(tokens -> tokens < spec.contextLength()).orElse(Attention.UNLIMITED);
        return (layer, block) -> {
            boolean slid = listed.map(types -> types.get(layer).equals("sliding_attention"))
                    .orElseGet(() -> slides.holds(layer));
            return block.withAttention(block.attention().withWindow(slid ? seen : Attention.UNLIMITED));
        };
    }

    /** A property of layers. */
    @FunctionalInterface
    interface LayerRule {
        boolean holds(int layer);
    }

    /** Returns {@code sliding_window}, if it is set. */
    static Optional<Integer> window(ConfigJson config) {
        return config.isSet("sliding_window") ? Optional.of(config.dimension("sliding_window")) : Optional.empty();
    }

    /** Looks up every tensor. */
    static Weights weights(ModelSpec spec, TensorFinder finder, Biases biases) {
        TensorFinder tensors = finder.withOptionalPrefix(PREFIX);
        int width = spec.width();
        Matrix embedding = tensors.matrix("embed_tokens.weight", width, spec.vocabularySize(), Layout.OUT_IN);
        List<Block> blocks = IntStream.range(0, spec.layers())
                .mapToObj(layer -> block(spec, tensors, "layers." + layer, biases))
                .toList();
        Weights.Norm norm = norm(tensors, "norm", width);
        Matrix head = spec.tiedHead() && !tensors.has(HEAD)
                ? embedding
                : tensors.matrix(HEAD, width, spec.vocabularySize(), Layout.OUT_IN);
        return new Weights(finder.description(), embedding, Optional.empty(), blocks, norm, head);
    }

    private static Block block(ModelSpec spec, TensorFinder tensors, String name, Biases biases) {
        int width = spec.width();
        int inner = spec.mlp().inner();
        int queries = spec.attention().queryWidth();
        int keys = spec.attention().kvWidth();
        String attention = name + ".self_attn.";
        String mlp = name + ".mlp.";
        return new Block(
                norm(tensors, name + ".input_layernorm", width),
                joined(
                        linear(tensors, attention + "q_proj", width, queries, biases.queriesKeysValues()),
                        linear(tensors, attention + "k_proj", width, keys, biases.queriesKeysValues()),
                        linear(tensors, attention + "v_proj", width, keys, biases.queriesKeysValues())),
                qkNorms(spec.attention(), tensors, attention),
                linear(tensors, attention + "o_proj", queries, width, biases.attentionOutput()),
                norm(tensors, name + ".post_attention_layernorm", width),
                joined(
                        linear(tensors, mlp + "gate_proj", width, inner, biases.mlp()),
                        linear(tensors, mlp + "up_proj", width, inner, biases.mlp())),
                linear(tensors, mlp + "down_proj", inner, width, biases.mlp()),
                Optional.empty());
    }

    private static Optional<QkNorms> qkNorms(Attention heads, TensorFinder tensors, String name) {
        return heads.qkNorms()
                ? Optional.of(new QkNorms(
                        norm(tensors, name + "q_norm", heads.headSize()),
                        norm(tensors, name + "k_norm", heads.headSize())))
                : Optional.empty();
    }

    private static Weights.Norm norm(TensorFinder tensors, String name, int width) {
        return new Weights.Norm(tensors.vector(name + ".weight", width), Optional.empty());
    }

    private static Matrix linear(TensorFinder tensors, String name, int inputs, int outputs, boolean biased) {
        Optional<Vector> bias = biased ? Optional.of(tensors.vector(name + ".bias", outputs)) : Optional.empty();
        return tensors.matrix(name + ".weight", inputs, outputs, Layout.OUT_IN, bias);
    }

    /** Concatenates the outputs of matrices with the same inputs; either all have biases, or none has. */
    private static Matrix joined(Matrix... matrices) {
        List<Outputs> parts = new ArrayList<>();
        List<Outputs> biases = new ArrayList<>();
        int outputs = 0;
        for (Matrix matrix : matrices) {
            parts.addAll(matrix.parts());
            matrix.bias().ifPresent(bias -> biases.addAll(bias.parts()));
            outputs += matrix.outputs();
        }
        Optional<Vector> bias = biases.isEmpty() ? Optional.empty() : Optional.of(new Vector(biases, 0));
        return new Matrix(parts, matrices[0].inputs(), outputs, Layout.OUT_IN, bias);
    }

    /** Returns whether the forward pass does not need a tensor. */
    static boolean ignores(String tensor) {
        return FREQUENCIES.matcher(tensor).matches();
    }

    /** A published shape of a family. */
    record Shape(String name, int width, int layers, int heads, int kvHeads, int headSize, int inner) {

        /**
         * Returns the shape as a model, with equal blocks and attention to all tokens.
         *
         * @param epsilon of its norms
         */
        ModelSpec spec(int vocabulary, int context, float epsilon, Rope rope, boolean tied, Integer... endOfText) {
            Norm norm = Norm.rms(epsilon);
            Mlp mlp = new Mlp(inner, Activation.SILU, true);
            BlockSpec block = new BlockSpec(attention(heads, kvHeads, headSize), mlp, norm, rope, Residual.SEQUENTIAL);
            ModelSpec.Head head = ModelSpec.Head.plain(norm, tied);
            return new ModelSpec(
                    name, vocabulary, context, width, 1, Collections.nCopies(layers, block), head, List.of(endOfText));
        }
    }
}
