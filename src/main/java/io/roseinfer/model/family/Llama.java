package io.roseinfer.model.family;

import io.roseinfer.base.Limits;
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
import io.roseinfer.model.Positions.Scaling;
import io.roseinfer.model.TensorFinder;
import io.roseinfer.model.Vector;
import io.roseinfer.model.Weights;
import io.roseinfer.model.Weights.Block;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * Llama 2 and 3 and what is built alike, such as SmolLM2: norms by root mean square, rotary positions, grouped heads, a gated MLP.
 * Matrices are stored [out, in]; those of queries, keys and values stand apart, as do gate and up. Names may carry the
 * {@code model.} prefix or not. Defaults are those of {@code LlamaConfig} in transformers. Dropout, initializer range and
 * {@code pretraining_tp}, which slices the same products, are not read.
 *
 * @param attentionBias whether queries, keys, values and the attention's output have biases
 * @param mlpBias whether the three matrices of the MLP have
 */
record Llama(boolean attentionBias, boolean mlpBias) implements Family {
    private static final String PREFIX = "model.";
    private static final String HEAD = "lm_head.weight";
    private static final int END_OF_TEXT = 2;

    /** Frequencies, which older versions of transformers saved with every layer. */
    private static final Pattern FREQUENCIES =
            Pattern.compile("(model\\.)?layers\\.\\d+\\.self_attn\\.rotary_emb\\.inv_freq");

    Llama() {
        this(false, false);
    }

    @Override
    public Set<String> modelTypes() {
        return Set.of("llama");
    }

    @Override
    public Family variant(ConfigJson config) {
        return new Llama(config.flag("attention_bias", false), config.flag("mlp_bias", false));
    }

    @Override
    public ModelSpec spec(String name, ConfigJson config) {
        if (config.isSet("sliding_window")) {
            throw config.refusal("sliding_window is set; models of this type attend to every token, so leave it out");
        }
        int vocabulary = config.dimension("vocab_size", 32000);
        int context = config.dimension("max_position_embeddings", 2048);
        int width = config.dimension("hidden_size", 4096);
        String layers = "num_hidden_layers";
        Attention attention = attention(config, width);
        Mlp mlp = new Mlp(config.dimension("intermediate_size", 11008), activation(config), true);
        Norm norm = Norm.rms(config.epsilon("rms_norm_eps", 1e-6f));
        Rope rope = rope(config, attention.headSize(), context);
        BlockSpec block = new BlockSpec(attention, mlp, norm, rope, Residual.SEQUENTIAL);
        return new ModelSpec(
                name,
                vocabulary,
                context,
                width,
                1,
                Collections.nCopies(config.dimension(layers, layers, 32, Limits.MODEL_LAYERS), block),
                ModelSpec.Head.plain(norm, config.flag("tie_word_embeddings", false)),
                config.endOfText(vocabulary).orElseGet(() -> defaultEndOfText(vocabulary)));
    }

    private static List<Integer> defaultEndOfText(int vocabulary) {
        return END_OF_TEXT < vocabulary ? List.of(END_OF_TEXT) : List.of();
    }

    private static Attention attention(ConfigJson config, int width) {
        int heads = config.dimension("num_attention_heads", 32);
        int kvHeads = config.dimension("num_key_value_heads", heads);
        if (heads % kvHeads != 0) {
            throw config.refusal("num_attention_heads is " + heads + " and num_key_value_heads is " + kvHeads
                    + "; every head of keys and values must serve equally many heads of queries");
        }
        if (!config.isSet("head_dim") && width % heads != 0) {
            throw config.refusal("hidden_size is " + width + " and num_attention_heads is " + heads
                    + "; the heads must divide the width evenly where head_dim is not given");
        }
        int size = config.dimension("head_dim", Math.max(1, width / heads));
        if (size % 2 != 0) {
            throw config.refusal("a head has " + size + " elements (head_dim, or hidden_size / num_attention_heads);"
                    + " rotary positions turn pairs, so the number must be even");
        }
        return attention(heads, kvHeads, size);
    }

    private static Attention attention(int heads, int kvHeads, int size) {
        float scale = (float) (1 / Math.sqrt(size));
        return new Attention(heads, kvHeads, size, scale, Attention.UNLIMITED, Float.POSITIVE_INFINITY, false);
    }

    private static Activation activation(ConfigJson config) {
        String name = config.text("hidden_act", "silu");
        return switch (name) {
            case "silu", "swish" -> Activation.SILU;
            case "gelu_new", "gelu_pytorch_tanh" -> Activation.GELU_TANH;
            case "gelu" -> Activation.GELU_ERF;
            case "relu" -> Activation.RELU;
            default ->
                throw config.refusal("hidden_act is \"" + name
                        + "\"; supported are silu, gelu_new, gelu_pytorch_tanh, gelu and relu");
        };
    }

    /** Transformers 5 writes {@code rope_parameters}; before, {@code rope_scaling} stood beside {@code rope_theta}. */
    private static Rope rope(ConfigJson config, int headSize, int context) {
        double theta = config.number("rope_theta", 10000);
        Optional<ConfigJson> given = config.section("rope_parameters").or(() -> config.section("rope_scaling"));
        for (ConfigJson each : given.isPresent() ? List.of(config, given.get()) : List.of(config)) {
            if (each.number("partial_rotary_factor", 1) != 1) {
                throw each.refusal(
                        "partial_rotary_factor is set; models of this type turn whole heads, so it must be 1");
            }
        }
        return given.isEmpty()
                ? Rope.plain(theta, headSize)
                : new Rope(given.get().number("rope_theta", theta), headSize, scaling(given.get(), context));
    }

    private static Scaling scaling(ConfigJson rope, int context) {
        String type = rope.text("rope_type", rope.text("type", "default"));
        return switch (type) {
            case "default" -> new Scaling.None();
            case "linear" -> new Scaling.Linear(rope.number("factor"));
            case "llama3" -> {
                double low = rope.number("low_freq_factor");
                double high = rope.number("high_freq_factor");
                if (low >= high) {
                    throw rope.refusal("low_freq_factor is " + low + " and high_freq_factor is " + high
                            + "; the first must be below the second");
                }
                int original = rope.dimension("original_max_position_embeddings", context);
                yield new Scaling.ByWavelength(rope.number("factor"), low, high, original);
            }
            case "yarn" -> yarn(rope, context);
            default ->
                throw rope.refusal("rope_type is \"" + type + "\"; supported are default, linear, llama3 and yarn");
        };
    }

    private static Scaling yarn(ConfigJson rope, int context) {
        double factor = rope.number("factor");
        double plain = rope.isSet("mscale") && rope.isSet("mscale_all_dim")
                ? sharpness(factor, rope.number("mscale")) / sharpness(factor, rope.number("mscale_all_dim"))
                : sharpness(factor, 1);
        return new Scaling.Yarn(
                factor,
                rope.number("beta_fast", 32),
                rope.number("beta_slow", 1),
                rope.dimension("original_max_position_embeddings", context),
                rope.number("attention_factor", plain),
                rope.flag("truncate", true));
    }

    private static double sharpness(double factor, double scale) {
        return factor <= 1 ? 1 : 0.1 * scale * Math.log(factor) + 1;
    }

    @Override
    public Weights weights(ModelSpec spec, TensorFinder finder) {
        TensorFinder tensors = finder.withOptionalPrefix(PREFIX);
        int width = spec.width();
        Matrix embedding = tensors.matrix("embed_tokens.weight", width, spec.vocabularySize(), Layout.OUT_IN);
        List<Block> blocks = IntStream.range(0, spec.layers())
                .mapToObj(layer -> block(spec, tensors, "layers." + layer))
                .toList();
        Weights.Norm norm = norm(tensors, "norm", width);
        Matrix head = spec.tiedHead() && !tensors.has(HEAD)
                ? embedding
                : tensors.matrix(HEAD, width, spec.vocabularySize(), Layout.OUT_IN);
        return new Weights(finder.description(), embedding, Optional.empty(), blocks, norm, head);
    }

    private Block block(ModelSpec spec, TensorFinder tensors, String name) {
        int width = spec.width();
        int inner = spec.mlp().inner();
        int queries = spec.attention().queryWidth();
        int keys = spec.attention().kvWidth();
        String attention = name + ".self_attn.";
        String mlp = name + ".mlp.";
        return Block.plain(
                norm(tensors, name + ".input_layernorm", width),
                joined(
                        attentionBias,
                        linear(tensors, attention + "q_proj", width, queries, attentionBias),
                        linear(tensors, attention + "k_proj", width, keys, attentionBias),
                        linear(tensors, attention + "v_proj", width, keys, attentionBias)),
                linear(tensors, attention + "o_proj", queries, width, attentionBias),
                norm(tensors, name + ".post_attention_layernorm", width),
                joined(
                        mlpBias,
                        linear(tensors, mlp + "gate_proj", width, inner, mlpBias),
                        linear(tensors, mlp + "up_proj", width, inner, mlpBias)),
                linear(tensors, mlp + "down_proj", inner, width, mlpBias));
    }

    private static Weights.Norm norm(TensorFinder tensors, String name, int width) {
        return new Weights.Norm(tensors.vector(name + ".weight", width), Optional.empty());
    }

    private static Matrix linear(TensorFinder tensors, String name, int inputs, int outputs, boolean biased) {
        Optional<Vector> bias = biased ? Optional.of(tensors.vector(name + ".bias", outputs)) : Optional.empty();
        return tensors.matrix(name + ".weight", inputs, outputs, Layout.OUT_IN, bias);
    }

    /** Matrices over the same inputs as one, with their outputs one after another. */
    private static Matrix joined(boolean biased, Matrix... matrices) {
        List<Outputs> parts = new ArrayList<>();
        List<Outputs> biases = new ArrayList<>();
        int outputs = 0;
        for (Matrix matrix : matrices) {
            parts.addAll(matrix.parts());
            matrix.bias().ifPresent(bias -> biases.addAll(bias.parts()));
            outputs += matrix.outputs();
        }
        Optional<Vector> bias = biased ? Optional.of(new Vector(biases, 0)) : Optional.empty();
        return new Matrix(parts, matrices[0].inputs(), outputs, Layout.OUT_IN, bias);
    }

    @Override
    public boolean ignores(String tensor) {
        return FREQUENCIES.matcher(tensor).matches();
    }

    @Override
    public List<ModelSpec> shapes() {
        return List.of(smolLm2("smollm2-135m", 576, 30, 9, 3), smolLm2("smollm2-360m", 960, 32, 15, 5));
    }

    private static ModelSpec smolLm2(String name, int width, int layers, int heads, int kvHeads) {
        Norm norm = Norm.rms(1e-5f);
        Attention attention = attention(heads, kvHeads, width / heads);
        Mlp mlp = new Mlp(width * 8 / 3, Activation.SILU, true);
        Rope rope = Rope.plain(100_000, attention.headSize());
        BlockSpec block = new BlockSpec(attention, mlp, norm, rope, Residual.SEQUENTIAL);
        ModelSpec.Head head = ModelSpec.Head.plain(norm, true);
        return new ModelSpec(name, 49152, 8192, width, 1, Collections.nCopies(layers, block), head, List.of(0));
    }
}
