package io.roseinfer.model;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.base.StrictJson;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * Reads a Hugging Face {@code config.json} of type {@code gpt2} into a {@link ModelSpec}. Every field that changes the result is
 * honoured or refused; fields of training (dropout, initializer range, summary heads) are not read.
 */
public final class Gpt2Config {
    /** The end of text of a file that does not say, as in transformers: {@code <|endoftext|>} of GPT-2's own vocabulary. */
    private static final int DEFAULT_END_OF_TEXT = 50256;

    private final String source;
    private final JsonNode json;
    private final List<String> warnings;

    private Gpt2Config(String source, byte[] utf8, List<String> warnings) {
        this.source = source;
        this.json = readObject(source, utf8);
        this.warnings = warnings;
    }

    /**
     * Parses a configuration.
     *
     * @param modelName what the spec is called
     * @param source what messages call the file
     * @param utf8 the file's bytes
     * @param warnings gets a line for each field that is odd, but not wrong
     * @throws BadModel naming the field, what was seen and what is allowed
     */
    public static ModelSpec parse(String modelName, String source, byte[] utf8, List<String> warnings) {
        return new Gpt2Config(source, utf8, warnings).spec(modelName);
    }

    /**
     * The ids that end a completion according to {@code generation_config.json}, which wins over {@code config.json}; empty if
     * the file does not say.
     *
     * @param warnings as in {@link #parse}
     */
    public static Optional<List<Integer>> endOfText(
            String source, byte[] generationConfig, int vocabularySize, List<String> warnings) {
        Gpt2Config config = new Gpt2Config(source, generationConfig, warnings);
        return config.json.has("eos_token_id") ? Optional.of(config.statedEndOfText(vocabularySize)) : Optional.empty();
    }

    private static JsonNode readObject(String source, byte[] utf8) {
        JsonNode json;
        try {
            json = StrictJson.parse(utf8);
        } catch (JacksonException e) {
            throw new BadModel(source + ": not valid JSON: " + e.getOriginalMessage(), e);
        }
        if (json == null || !json.isObject()) {
            throw new BadModel(source + ": a JSON object is needed");
        }
        return json;
    }

    private ModelSpec spec(String modelName) {
        refuseUnsupported();
        int width = dimension("n_embd", "hidden_size", 768);
        int layers = dimension("n_layer", "num_hidden_layers", 12, Limits.MODEL_LAYERS);
        int heads = dimension("n_head", "num_attention_heads", 12);
        int vocabulary = dimension("vocab_size", "vocab_size", 50257);
        if (width % heads != 0) {
            throw new BadModel(source + ": n_embd is " + width + " and n_head is " + heads
                    + "; the heads must divide the width evenly");
        }
        return new ModelSpec(
                modelName,
                vocabulary,
                dimension("n_positions", "max_position_embeddings", 1024),
                width,
                layers,
                heads,
                isSet("n_inner") ? dimension("n_inner", "n_inner", 0) : 4 * width,
                activation(),
                epsilon(),
                flag("scale_attn_weights", true),
                flag("scale_attn_by_inverse_layer_idx", false),
                flag("tie_word_embeddings", true),
                endOfText(vocabulary));
    }

    private void refuseUnsupported() {
        String type = json.path("model_type").asString("");
        if (!type.equals("gpt2")) {
            throw new BadModel(source + ": model_type is " + (type.isEmpty() ? "missing" : "\"" + type + "\"")
                    + "; supported is \"gpt2\"");
        }
        if (isSet("quantization_config")) {
            throw new BadModel(source + ": quantization_config is set (method "
                    + json.get("quantization_config").path("quant_method").asString("unknown")
                    + "); quantized checkpoints are not supported, use the original weights and --dtype int8");
        }
        if (flag("add_cross_attention", false)) {
            throw new BadModel(source + ": add_cross_attention is true; encoder-decoder models are not supported");
        }
    }

    private boolean isSet(String field) {
        return json.has(field) && !json.get(field).isNull();
    }

    private int dimension(String field, String alias, int ifAbsent) {
        return dimension(field, alias, ifAbsent, Limits.MODEL_DIMENSION);
    }

    private int dimension(String field, String alias, int ifAbsent, int most) {
        if (!isSet(field) && !isSet(alias)) {
            return ifAbsent;
        }
        int size = size(isSet(field) ? field : alias, most);
        if (isSet(alias) && size(alias, most) != size) {
            throw new BadModel(source + ": " + field + " is " + size + " and " + alias + " is " + size(alias, most)
                    + "; they are two names of one size, so leave out the wrong one");
        }
        return size;
    }

    private int size(String name, int most) {
        JsonNode value = json.get(name);
        if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < 1 || value.intValue() > most) {
            throw new BadModel(source + ": " + name + " is " + value + "; it must be a whole number from 1 to " + most);
        }
        return value.intValue();
    }

    private boolean flag(String field, boolean ifAbsent) {
        if (!isSet(field)) {
            return ifAbsent;
        }
        JsonNode value = json.get(field);
        if (!value.isBoolean()) {
            throw new BadModel(source + ": " + field + " is " + value + "; it must be true or false");
        }
        return value.booleanValue();
    }

    private float epsilon() {
        JsonNode value = json.path("layer_norm_epsilon");
        if (value.isMissingNode()) {
            return 1e-5f;
        }
        float epsilon = value.isNumber() ? (float) value.doubleValue(Double.NaN) : Float.NaN;
        if (!(epsilon > 0 && epsilon <= 1)) {
            throw new BadModel(
                    source + ": layer_norm_epsilon is " + value + "; it must be a number above 0, at most 1");
        }
        return epsilon;
    }

    private Activation activation() {
        String name = json.path("activation_function").asString("gelu_new");
        return switch (name) {
            case "gelu_new", "gelu_pytorch_tanh" -> Activation.GELU_TANH;
            case "gelu" -> Activation.GELU_ERF;
            case "relu" -> Activation.RELU;
            default ->
                throw new BadModel(source + ": activation_function is \"" + name
                        + "\"; supported are gelu_new, gelu_pytorch_tanh, gelu and relu");
        };
    }

    private List<Integer> endOfText(int vocabulary) {
        if (json.has("eos_token_id")) {
            return statedEndOfText(vocabulary);
        }
        return DEFAULT_END_OF_TEXT < vocabulary ? List.of(DEFAULT_END_OF_TEXT) : List.of();
    }

    /** The ids the file lists; null is none. One that the model cannot produce ends nothing and is left out. */
    private List<Integer> statedEndOfText(int vocabulary) {
        List<Integer> ids = new ArrayList<>();
        if (isSet("eos_token_id")) {
            JsonNode value = json.get("eos_token_id");
            for (JsonNode id : value.isArray() ? value : List.of(value)) {
                addTokenId(id, vocabulary, ids);
            }
        }
        return ids;
    }

    private void addTokenId(JsonNode value, int vocabulary, List<Integer> ids) {
        if (!value.isIntegralNumber()) {
            throw new BadModel(
                    source + ": eos_token_id is " + value + "; it must be a token id, a list of token ids or null");
        }
        if (value.canConvertToInt() && value.intValue() >= 0 && value.intValue() < vocabulary) {
            ids.add(value.intValue());
        } else {
            warnings.add(source + ": eos_token_id is " + value + ", but ids of this model are 0 to " + (vocabulary - 1)
                    + "; it ends no completion");
        }
    }
}
