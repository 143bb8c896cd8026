package io.roseinfer.tokenizer;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.base.StrictJson;
import io.roseinfer.base.Utf16;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * A JSON value with its location, so that every error names the file and the field.
 *
 * @param where such as {@code tokenizer.json: model.vocab}
 */
record JsonView(String where, JsonNode node) {

    /** Parses a document that must be an object. */
    static JsonView parse(byte[] utf8, String file) {
        try {
            return new JsonView(file + ": ", StrictJson.parse(utf8)).object();
        } catch (JacksonException e) {
            throw new BadModel(file + ": not valid JSON: " + StrictJson.reason(e) + "; download the file again", e);
        }
    }

    /** Returns an object without fields, for a missing file. */
    static JsonView empty(String file) {
        return parse(new byte[] {'{', '}'}, file);
    }

    /** Returns a field of an object; a missing one is {@link #isAbsent}. */
    JsonView field(String name) {
        String separator = where.endsWith(": ") ? "" : ".";
        return new JsonView(where + separator + name, node.path(name));
    }

    /** Returns whether the field is missing or null. */
    boolean isAbsent() {
        return node.isMissingNode() || node.isNull();
    }

    JsonView object() {
        require(node.isObject(), "an object");
        return this;
    }

    /** Returns the fields of an object, in file order. */
    Stream<Map.Entry<String, JsonView>> fields() {
        return object().node.properties().stream().map(entry -> Map.entry(entry.getKey(), field(entry.getKey())));
    }

    /** Returns the elements of an array. */
    Stream<JsonView> elements() {
        require(node.isArray(), "an array");
        return IntStream.range(0, node.size()).mapToObj(i -> new JsonView(where + "[" + i + "]", node.path(i)));
    }

    int size() {
        return node.size();
    }

    String text() {
        require(node.isString(), "a string");
        String text = node.stringValue();
        int unpaired = Utf16.unpairedSurrogate(text);
        if (unpaired >= 0) {
            throw refused("has an unpaired surrogate at character " + unpaired + "; a token must be valid Unicode");
        }
        return text;
    }

    Optional<String> optionalText() {
        return isAbsent() ? Optional.empty() : Optional.of(text());
    }

    int integer() {
        require(node.isIntegralNumber() && node.canConvertToInt(), "an integer of 32 bits");
        return node.intValue();
    }

    /** Returns a token id, or throws if it is out of range. */
    int tokenId() {
        return tokenId(integer());
    }

    /** Returns an id, or throws, naming this value, if it is out of range. */
    int tokenId(int id) {
        if (id < 0 || id >= Limits.MODEL_DIMENSION) {
            throw refused("is " + id + "; token ids are 0 to " + (Limits.MODEL_DIMENSION - 1));
        }
        return id;
    }

    /** Returns the ids by token of {@code model.vocab}, {@code vocab.json} or {@code added_tokens.json}. */
    Map<String, Integer> tokenIds() {
        Map<String, Integer> ids = new LinkedHashMap<>();
        fields().forEach(entry -> {
            if (Utf16.unpairedSurrogate(entry.getKey()) >= 0) {
                throw entry.getValue().refused("has an unpaired surrogate in its name; a token must be valid Unicode");
            }
            ids.put(entry.getKey(), entry.getValue().tokenId());
        });
        return ids;
    }

    boolean flag(boolean whenAbsent) {
        if (isAbsent()) {
            return whenAbsent;
        }
        require(node.isBoolean(), "true or false");
        return node.booleanValue();
    }

    /** Returns the {@code type} of a component of {@code tokenizer.json}. */
    String type() {
        return object().field("type").text();
    }

    /** Returns the steps of a component, with nested {@code Sequence}s flattened; none if it is missing. */
    Stream<JsonView> steps(String children) {
        if (isAbsent()) {
            return Stream.empty();
        }
        return type().equals("Sequence")
                ? field(children).elements().flatMap(child -> child.steps(children))
                : Stream.of(this);
    }

    /** Returns the error for a step of an unsupported type. */
    BadModel unsupported(String component, String supported) {
        return refused("is the " + component + " " + type() + ", which is not supported; supported: " + supported);
    }

    BadModel refused(String complaint) {
        return new BadModel(where + " " + complaint);
    }

    private void require(boolean condition, String expected) {
        if (!condition) {
            throw refused("is " + shown() + ", expected " + expected);
        }
    }

    private String shown() {
        if (node.isMissingNode()) {
            return "missing";
        }
        if (node.isContainer()) {
            return node.isArray() ? "an array" : "an object";
        }
        String shown = node.toString();
        return shown.length() <= 60 ? shown : shown.substring(0, 60) + "…";
    }
}
