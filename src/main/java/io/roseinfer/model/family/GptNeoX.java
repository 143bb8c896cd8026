package io.roseinfer.model.family;

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
import io.roseinfer.model.StoredTensor;
import io.roseinfer.model.TensorFinder;
import io.roseinfer.model.Vector;
import io.roseinfer.model.Weights;
import io.roseinfer.model.Weights.Block;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * GPT-NeoX and Pythia: layer norms with biases, RoPE on the first part of each head, parallel attention and MLP, an MLP
 * of two matrices. Matrices are stored [out, in]. Queries, keys and values are one tensor, head by head: queries, keys
 * and values of head 0, then head 1. Names may have the {@code gpt_neox.} prefix. Defaults follow
 * {@code GPTNeoXConfig} in transformers.
 *
 * @param attentionBias whether queries, keys, values and the attention's output have biases; the MLP always has
 */
record GptNeoX(boolean attentionBias) implements Family {
    private static final String PREFIX = "gpt_neox.";
    private static final String DEFAULTS = """
            "vocab_size": 50432, "hidden_size": 6144, "intermediate_size": 24576, "num_hidden_layers": 44,
            "num_attention_heads": 64, "hidden_act": "gelu", "max_position_embeddings": 2048""";

    private static final double THETA = 10_000;
    private static final double PART = 0.25;
    private static final int END_OF_TEXT = 2;

    /** Names of the head in the training library, and in transformers since version 5. */
    private static final List<String> HEADS = List.of("embed_out.weight", "lm_head.weight");

    /** Frequencies and the causal mask, which older versions of transformers saved with every layer. */
    private static final Pattern BUFFER = Pattern.compile(
            "(gpt_neox\\.)?(layers\\.\\d+\\.attention\\.(rotary_emb\\.inv_freq|bias|masked_bias)|rotary_emb\\.inv_freq)");

    GptNeoX() {
        this(true);
    }

    @Override
    public Set<String> modelTypes() {
        return Set.of("gpt_neox");
    }

    @Override
    public Family variant(ConfigJson config) {
        return new GptNeoX(config.flag("attention_bias", true));
    }

    @Override
    public ModelSpec spec(String name, ConfigJson file) {
        ConfigJson config = file.withDefaults(DEFAULTS);
        int vocabulary = config.dimension("vocab_size");
        int unscaled = config.dimension("max_position_embeddings");
        int width = config.dimension("hidden_size");
        int heads = config.dimension("num_attention_heads");
        if (width % heads != 0) {
            throw config.refusal("hidden_size is " + width + " and num_attention_heads is " + heads
                    + "; hidden_size must be a multiple of num_attention_heads");
        }
        int size = width / heads;
        Norm norm = Norm.layer(config.epsilon("layer_norm_eps", 1e-5f));
        Rope rope = RopeConfig.readPartial(
                config,
                either(config, "rotary_emb_base", "rope_theta", THETA),
                either(config, "rotary_pct", "partial_rotary_factor", PART),
                size,
                unscaled);
        BlockSpec block = new BlockSpec(
                Attention.plain(heads, size, (float) (1 / Math.sqrt(size))),
                new Mlp(config.dimension("intermediate_size"), GatedDecoder.activation(config), false),
                norm,
                rope,
                config.flag("use_parallel_residual", true) ? Residual.PARALLEL : Residual.SEQUENTIAL);
        return new ModelSpec(
                name,
                vocabulary,
                RopeConfig.context(config, rope, unscaled),
                width,
                1,
                Collections.nCopies(config.layers("num_hidden_layers"), block),
                ModelSpec.Head.plain(norm, config.flag("tie_word_embeddings", false)),
                config.endOfText(vocabulary)
                        .orElseGet(() -> END_OF_TEXT < vocabulary ? List.of(END_OF_TEXT) : List.of()));
    }

    /** Returns a number with an old name and a new one. */
    private static double either(ConfigJson config, String old, String current, double ifAbsent) {
        double value = config.number(old, config.number(current, ifAbsent));
        if (config.number(current, value) != value) {
            throw config.refusal(old + " is " + value + " and " + current + " is " + config.number(current)
                    + "; they are aliases, so remove the wrong one");
        }
        return value;
    }

    @Override
    public Weights weights(ModelSpec spec, TensorFinder finder) {
        TensorFinder tensors = finder.withOptionalPrefix(PREFIX);
        int width = spec.width();
        Matrix embedding = tensors.matrix("embed_in.weight", width, spec.vocabularySize(), Layout.OUT_IN);
        List<Block> blocks = IntStream.range(0, spec.layers())
                .mapToObj(layer -> block(spec, tensors, "layers." + layer))
                .toList();
        Optional<String> head = HEADS.stream().filter(tensors::has).findFirst();
        return new Weights(
                finder.description(),
                embedding,
                Optional.empty(),
                blocks,
                norm(tensors, "final_layer_norm", width),
                spec.tiedHead() && head.isEmpty()
                        ? embedding
                        : tensors.matrix(head.orElse(HEADS.getFirst()), width, spec.vocabularySize(), Layout.OUT_IN));
    }

    private Block block(ModelSpec spec, TensorFinder tensors, String name) {
        int width = spec.width();
        int inner = spec.mlp().inner();
        return Block.plain(
                norm(tensors, name + ".input_layernorm", width),
                headByHead(spec, tensors, name + ".attention.query_key_value"),
                linear(tensors, name + ".attention.dense", width, width, attentionBias),
                norm(tensors, name + ".post_attention_layernorm", width),
                linear(tensors, name + ".mlp.dense_h_to_4h", width, inner, true),
                linear(tensors, name + ".mlp.dense_4h_to_h", inner, width, true));
    }

    /** Returns all queries, then all keys, then all values, of a tensor that has them head by head. */
    private Matrix headByHead(ModelSpec spec, TensorFinder tensors, String name) {
        int width = spec.width();
        int size = spec.attention().headSize();
        StoredTensor weight = tensors.find(name + ".weight", 3L * width, width);
        Optional<Vector> bias = attentionBias
                ? Optional.of(new Vector(thirds(tensors.find(name + ".bias", 3L * width), width, size), 0))
                : Optional.empty();
        return new Matrix(thirds(weight, width, size), width, 3 * width, Layout.OUT_IN, bias);
    }

    private static List<Outputs> thirds(StoredTensor tensor, int width, int size) {
        return Stream.of(0, size, 2 * size)
                .map(first -> new Outputs(tensor, width, first, size, 3 * size))
                .toList();
    }

    private static Weights.Norm norm(TensorFinder tensors, String name, int width) {
        return new Weights.Norm(
                tensors.vector(name + ".weight", width), Optional.of(tensors.vector(name + ".bias", width)));
    }

    private static Matrix linear(TensorFinder tensors, String name, int inputs, int outputs, boolean biased) {
        Optional<Vector> bias = biased ? Optional.of(tensors.vector(name + ".bias", outputs)) : Optional.empty();
        return tensors.matrix(name + ".weight", inputs, outputs, Layout.OUT_IN, bias);
    }

    @Override
    public boolean ignores(String tensor) {
        return BUFFER.matcher(tensor).matches();
    }
}
