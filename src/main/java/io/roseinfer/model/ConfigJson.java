package io.roseinfer.model;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.base.StrictJson;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The fields of a Hugging Face {@code config.json} or {@code generation_config.json}. A null field is treated as
 * absent. A wrong value is rejected with a {@link BadModel} that names the field, the value and the allowed values. The
 * fields that are read are recorded, so that unread ones can be reported.
 */
public final class ConfigJson {
    private static final String END_OF_TEXT = "eos_token_id";

    /** An architecture for a task other than text generation. */
    private static final Pattern OTHER_TASK = Pattern.compile(".*For(?!CausalLM$)[A-Z]\\w*");

    private final String source;
    private final JsonNode json;
    private final List<String> warnings;
    private final Asked asked;

    /** The fields read so far: fields by name, and the objects among them by their own fields. */
    private record Asked(Set<String> fields, Map<String, ConfigJson> sections) {
        Asked() {
            this(new HashSet<>(), new HashMap<>());
        }
    }

    /**
     * Parses a file.
     *
     * @param source its name in messages
     * @param utf8 its bytes
     * @param warnings receives a line for each field that is suspicious, but valid
     * @throws BadModel if it is not a JSON object
     */
    public ConfigJson(String source, byte[] utf8, List<String> warnings) {
        this(source, readObject(source, utf8), warnings, new Asked());
    }

    private ConfigJson(String source, JsonNode json, List<String> warnings, Asked asked) {
        this.source = source;
        this.json = json;
        this.warnings = warnings;
        this.asked = asked;
    }

    /**
     * Returns the same file with default values for absent fields. A null field gets no default.
     *
     * @param members the members of a JSON object
     */
    public ConfigJson withDefaults(String members) {
        ObjectNode merged = (ObjectNode) StrictJson.parse(("{" + members + "}").getBytes(StandardCharsets.UTF_8));
        merged.setAll((ObjectNode) json);
        return new ConfigJson(source, merged, warnings, asked);
    }

    private static JsonNode readObject(String source, byte[] utf8) {
        JsonNode json;
        try {
            json = StrictJson.parse(utf8);
        } catch (JacksonException e) {
            throw new BadModel(source + ": not valid JSON: " + StrictJson.reason(e), e);
        }
        if (json == null || !json.isObject()) {
            throw new BadModel(source + ": must be a JSON object");
        }
        return json;
    }

    /** Returns the exception to throw about a field of this file. */
    public BadModel refusal(String complaint) {
        return new BadModel(source + ": " + complaint);
    }

    /** Adds a warning about this file. */
    public void warn(String remark) {
        warnings.add(source + ": " + remark);
    }

    /** Returns a field's value, or a missing node if there is none. */
    private JsonNode value(String field) {
        asked.fields.add(field);
        return json.path(field);
    }

    /**
     * Adds one warning with the names of all fields that have a value and were not read.
     *
     * @param withoutEffect the fields that do not affect the model's output
     */
    public void warnOfUnread(Predicate<String> withoutEffect) {
        List<String> unread = unread(withoutEffect);
        if (!unread.isEmpty()) {
            warnings.add(source + ": " + String.join(", ", unread) + (unread.size() == 1 ? " is" : " are")
                    + " unknown for models of this type and ignored; if the model needs "
                    + (unread.size() == 1 ? "it" : "them") + ", its output is wrong");
        }
    }

    private List<String> unread(Predicate<String> withoutEffect) {
        List<String> names = new ArrayList<>();
        for (String field : json.propertyNames()) {
            ConfigJson section = asked.sections.get(field);
            if (section != null) {
                section.unread(withoutEffect).forEach(inner -> names.add(field + "." + inner));
            } else if (!json.get(field).isNull() && !asked.fields.contains(field) && !withoutEffect.test(field)) {
                names.add(field);
            }
        }
        return names;
    }

    /**
     * Returns the exception for quantized weights if the file declares them. Merged fine-tunes may still declare them:
     * the types of the tensors decide.
     */
    public Optional<BadModel> quantized() {
        return isSet("quantization_config")
                ? Optional.of(refusal("quantization_config is set (method "
                        + value("quantization_config").path("quant_method").asString("unknown")
                        + "); quantized checkpoints are not supported, use the original weights with dtype int8"))
                : Optional.empty();
    }

    /** Rejects what no family supports: encoder-decoder models and heads other than a language model's. */
    public void refuseUnsupported() {
        for (String field : List.of("add_cross_attention", "is_encoder_decoder")) {
            if (flag(field, false)) {
                throw refusal(field + " is true; encoder-decoder models are not supported");
            }
        }
        refuseOtherHeads();
    }

    /**
     * Rejects models that classify, embed or score text, whose tensors are like those of a language model except for
     * the head.
     */
    private void refuseOtherHeads() {
        String architecture = value("architectures").path(0).asString("");
        if (OTHER_TASK.matcher(architecture).matches()) {
            throw refusal("architectures names " + architecture
                    + "; only models that generate text are supported (ForCausalLM)");
        }
    }

    /** Returns whether a field is present and not null. */
    public boolean isSet(String field) {
        JsonNode value = value(field);
        return !value.isMissingNode() && !value.isNull();
    }

    /** Returns a field's text; any other value is treated as absent. */
    public String text(String field, String ifAbsent) {
        return value(field).asString(ifAbsent);
    }

    /** Returns a size from 1 to {@link Limits#MODEL_DIMENSION}. */
    public int dimension(String field, int ifAbsent) {
        return isSet(field) ? size(field, Limits.MODEL_DIMENSION) : ifAbsent;
    }

    /** Returns a size from 1 to {@link Limits#MODEL_DIMENSION} of a required field. */
    public int dimension(String field) {
        return size(field, Limits.MODEL_DIMENSION);
    }

    /** Returns a number from 0 to {@link Limits#MODEL_DIMENSION} of a required field. */
    public int count(String field) {
        JsonNode value = value(field);
        return value.isIntegralNumber() && value.canConvertToInt() && value.intValue() == 0 ? 0 : dimension(field);
    }

    /** Returns the number of layers of a required field. */
    public int layers(String field) {
        return size(field, Limits.MODEL_LAYERS);
    }

    /** Returns a size from 1 to {@link Limits#MODEL_DIMENSION} of a field with two names. */
    public int dimension(String field, String alias, int ifAbsent) {
        return dimension(field, alias, ifAbsent, Limits.MODEL_DIMENSION);
    }

    /** Returns a size from 1 to {@code max} of a field with two names. */
    public int dimension(String field, String alias, int ifAbsent, int max) {
        if (!isSet(field) && !isSet(alias)) {
            return ifAbsent;
        }
        int size = size(isSet(field) ? field : alias, max);
        if (isSet(alias) && size(alias, max) != size) {
            throw refusal(field + " is " + size + " and " + alias + " is " + size(alias, max)
                    + "; they are aliases, so remove the wrong one");
        }
        return size;
    }

    private int size(String name, int max) {
        JsonNode value = value(name);
        if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < 1 || value.intValue() > max) {
            throw refusal(name + " is " + shown(value) + "; it must be a whole number from 1 to " + max);
        }
        return value.intValue();
    }

    /** Returns a boolean. */
    public boolean flag(String field, boolean ifAbsent) {
        if (!isSet(field)) {
            return ifAbsent;
        }
        JsonNode value = value(field);
        if (!value.isBoolean()) {
            throw refusal(field + " is " + value + "; it must be true or false");
        }
        return value.booleanValue();
    }

    /** Returns a positive number. */
    public double number(String field, double ifAbsent) {
        return isSet(field) ? number(field) : ifAbsent;
    }

    /** Returns a positive number of a required field. */
    public double number(String field) {
        JsonNode value = value(field);
        double number = value.isNumber() ? value.doubleValue(Double.NaN) : Double.NaN;
        if (!(number > 0 && number < Double.POSITIVE_INFINITY)) {
            throw refusal(field + " is " + shown(value) + "; it must be a number above 0");
        }
        return number;
    }

    /** Returns a finite number of a required field. */
    public double anyNumber(String field) {
        JsonNode value = value(field);
        double number = value.isNumber() ? value.doubleValue(Double.NaN) : Double.NaN;
        if (!Double.isFinite(number)) {
            throw refusal(field + " is " + shown(value) + "; it must be a number");
        }
        return number;
    }

    /** Returns whether a field has a value other than null, false, this number, or an empty list or object. */
    public boolean hasOtherThan(String field, int number) {
        JsonNode value = value(field);
        boolean empty = value.isContainer() && value.isEmpty();
        boolean off = value.isBoolean() && !value.booleanValue();
        boolean same = value.isNumber() && value.doubleValue(Double.NaN) == number;
        return isSet(field) && !empty && !off && !same;
    }

    private static String shown(JsonNode value) {
        return value.isMissingNode() ? "missing" : value.toString();
    }

    /** Returns the first {@code layers} elements of a list, each one of {@code allowed}, if the field is set. */
    public Optional<List<String>> perLayer(String field, int layers, String... allowed) {
        if (!isSet(field)) {
            return Optional.empty();
        }
        JsonNode list = value(field);
        List<String> values = new ArrayList<>();
        for (int layer = 0; list.isArray() && layer < Math.min(layers, list.size()); layer++) {
            String value = list.get(layer).asString("");
            if (List.of(allowed).contains(value)) {
                values.add(value);
            }
        }
        if (values.size() != layers) {
            throw refusal(field + " is " + list + "; it must be a list with one of " + String.join(", ", allowed)
                    + " for each of " + layers + " layers");
        }
        return Optional.of(values);
    }

    /** Returns the fields of an object within the file; an empty object is treated as absent. */
    public Optional<ConfigJson> section(String field) {
        if (!isSet(field)) {
            return Optional.empty();
        }
        if (!value(field).isObject()) {
            throw refusal(field + " is " + value(field) + "; it must be an object");
        }
        if (value(field).isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(asked.sections.computeIfAbsent(
                field, name -> new ConfigJson(source + ": " + name, value(name), warnings, new Asked())));
    }

    /** Returns the epsilon of a norm: above 0, at most 1. */
    public float epsilon(String field, float ifAbsent) {
        JsonNode value = value(field);
        if (value.isMissingNode()) {
            return ifAbsent;
        }
        float epsilon = value.isNumber() ? (float) value.doubleValue(Double.NaN) : Float.NaN;
        if (!(epsilon > 0 && epsilon <= 1)) {
            throw refusal(field + " is " + value + "; it must be a number above 0, at most 1");
        }
        return epsilon;
    }

    /**
     * Returns the ids that end a completion, if the field is present; null is an empty list. Ids outside the vocabulary
     * are dropped with a warning.
     */
    public Optional<List<Integer>> endOfText(int vocabularySize) {
        if (value(END_OF_TEXT).isMissingNode()) {
            return Optional.empty();
        }
        List<Integer> ids = new ArrayList<>();
        if (isSet(END_OF_TEXT)) {
            JsonNode value = value(END_OF_TEXT);
            for (JsonNode id : value.isArray() ? value : List.of(value)) {
                addTokenId(id, vocabularySize, ids);
            }
        }
        return Optional.of(ids);
    }

    private void addTokenId(JsonNode value, int vocabulary, List<Integer> ids) {
        if (!value.isIntegralNumber()) {
            throw refusal("eos_token_id is " + value + "; it must be a token id, a list of token ids or null");
        }
        if (value.canConvertToInt() && value.intValue() >= 0 && value.intValue() < vocabulary) {
            ids.add(value.intValue());
        } else {
            warnings.add(source + ": eos_token_id is " + value + ", but ids of this model are 0 to " + (vocabulary - 1)
                    + "; it is ignored");
        }
    }
}
