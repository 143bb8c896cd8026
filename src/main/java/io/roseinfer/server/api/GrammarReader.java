package io.roseinfer.server.api;

import io.roseinfer.base.Quoted;
import io.roseinfer.grammar.Grammar;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * Reads the fields that restrict a completion to a grammar: OpenAI's {@code response_format}, vLLM's
 * {@code structured_outputs} and {@code guided_json} and others, llama.cpp's {@code grammar} and {@code json_schema}.
 */
public final class GrammarReader {
    /** OpenAI's field. */
    public static final String FORMAT = "response_format";

    /** vLLM's field. */
    public static final String OUTPUTS = "structured_outputs";

    private static final String COMPACT = "disable_any_whitespace";
    private static final String ANY_OBJECT = "{\"type\":\"object\"}";

    /** Reads a grammar from a field's value. */
    private interface Reader {
        /**
         * Reads a grammar.
         *
         * @param field the field's name in messages
         */
        Grammar read(String field, JsonNode value, Schemas schemas);
    }

    /**
     * A reader of schemas.
     *
     * @param compact whether JSON has no white space
     * @param ignored takes the place of each keyword without effect
     */
    private record Schemas(boolean compact, Consumer<String> ignored) {
        Grammar read(String field, JsonNode value) {
            if (!value.isObject() && !value.isBoolean() && !value.isString()) {
                throw Fields.wrong(field, value, "a JSON Schema");
            }
            JsonNode schema = value.isString() ? Grammar.parseSchema(value.stringValue()) : value;
            Grammar grammar = compact ? Grammar.jsonSchema(schema, 0) : Grammar.jsonSchema(schema);
            Grammar.unknownKeywords(schema).forEach(keyword -> ignored.accept(field + keyword));
            return grammar;
        }

        Grammar anyObject() {
            return compact ? Grammar.jsonSchema(ANY_OBJECT, 0) : Grammar.jsonObject();
        }
    }

    /** The kinds of grammars within {@code structured_outputs}. */
    private static final Map<String, Reader> KINDS = Map.of(
            "json", (field, value, schemas) -> schemas.read(field, value),
            "regex", (field, value, schemas) -> Grammar.regex(string(field, value)),
            "choice", (field, value, schemas) -> choice(field, value),
            "grammar", (field, value, schemas) -> Grammar.ebnf(string(field, value)),
            "json_object", (field, value, schemas) -> schemas.anyObject());

    private static final Map<String, Reader> FIELDS = fields();

    private final boolean hasTokenizer;

    GrammarReader(boolean hasTokenizer) {
        this.hasTokenizer = hasTokenizer;
    }

    private static Map<String, Reader> fields() {
        Map<String, Reader> fields = new LinkedHashMap<>();
        fields.put(FORMAT, GrammarReader::format);
        fields.put(OUTPUTS, (field, value, schemas) -> outputs(field, value, schemas.ignored()));
        KINDS.forEach((kind, reader) -> {
            if (!kind.equals("json_object")) {
                fields.put("guided_" + kind, reader);
            }
        });
        fields.put("grammar", (field, value, schemas) -> Grammar.gbnf(string(field, value)));
        fields.put("json_schema", (field, value, schemas) -> schemas.read(field, value));
        return fields;
    }

    /** Returns the field that gives a grammar, if one does. */
    Optional<String> field(Fields fields) {
        List<String> asked = new ArrayList<>(FIELDS.keySet());
        asked.removeIf(field -> given(fields, field).isEmpty());
        if (asked.size() > 1 && options(fields).filter(GrammarReader::isRead).isPresent()) {
            asked.remove(OUTPUTS);
        }
        if (asked.size() > 1) {
            String other = asked.get(1);
            throw ApiError.badField(
                    other, asked.getFirst() + " and " + other + " both restrict the completion; remove one");
        }
        return asked.stream().findFirst();
    }

    /** Returns vLLM's object, with its option read. */
    private static Optional<Fields> options(Fields fields) {
        Optional<Fields> options = given(fields, OUTPUTS).map(value -> Fields.of(OUTPUTS, value));
        options.ifPresent(GrammarReader::isCompact);
        return options;
    }

    private static boolean isCompact(Fields options) {
        return options.flag(COMPACT);
    }

    /** Returns the grammar, if a field gives one. */
    Optional<Grammar> read(Fields fields) {
        return field(fields).map(field -> read(field, fields));
    }

    private Grammar read(String field, Fields fields) {
        boolean compact = options(fields).map(GrammarReader::isCompact).orElse(false);
        if (!hasTokenizer) {
            throw ApiError.badField(field, "the model has no tokenizer, so it does not support " + field);
        }
        Reader reader = Objects.requireNonNull(FIELDS.get(field));
        JsonNode value = given(fields, field).orElseThrow();
        Schemas schemas = new Schemas(compact, fields::ignore);
        return Fields.checked(field, () -> reader.read(field, value, schemas));
    }

    private static Optional<JsonNode> given(Fields fields, String field) {
        return fields.find(field).filter(value -> !isNeutral(value));
    }

    /** Returns whether a value has no effect: empty text, false or the format {@code text}. */
    private static boolean isNeutral(JsonNode value) {
        return switch (value.getNodeType()) {
            case STRING -> value.stringValue().isEmpty();
            case BOOLEAN -> !value.booleanValue();
            case OBJECT -> value.size() == 1 && value.path("type").asString("").equals("text");
            default -> false;
        };
    }

    private static Grammar format(String field, JsonNode value, Schemas schemas) {
        Fields format = Fields.of(field, value);
        String type = format.string("type").orElse("");
        Grammar grammar =
                switch (type) {
                    case "json_object" ->
                        format.find("schema")
                                .map(schema -> schemas.read(field + ".schema", schema))
                                .orElseGet(schemas::anyObject);
                    case "json_schema" ->
                        named(
                                Fields.of(
                                        field + ".json_schema",
                                        format.find("json_schema")
                                                .orElseThrow(() -> ApiError.badField(
                                                        field, field + " has no json_schema; add it"))),
                                schemas);
                    default ->
                        throw ApiError.badField(
                                field,
                                field + ".type is " + Quoted.name(type)
                                        + "; it must be text, json_object or json_schema");
                };
        requireRead(field, format);
        return grammar;
    }

    /** Reads a schema with a name; it is enforced whether or not it is {@code strict}. */
    private static Grammar named(Fields schema, Schemas schemas) {
        String field = FORMAT + ".json_schema";
        Stream.of("name", "description").forEach(schema::string);
        boolean unusedStrict = schema.flag("strict");
        Grammar grammar = schema.find("schema")
                .map(value -> schemas.read(field + ".schema", value))
                .orElseThrow(() -> ApiError.badField(FORMAT, field + " has no schema; add it"));
        requireRead(field, schema);
        return grammar;
    }

    /**
     * Returns the grammar of a request's fields, if one gives a grammar.
     *
     * @param fields an object; other fields are ignored
     * @throws ApiError if a grammar is malformed, too large or not supported, or two fields give one
     */
    public static Optional<Grammar> grammar(JsonNode fields) {
        return new GrammarReader(true).read(Fields.of("the request", fields));
    }

    private static Grammar outputs(String field, JsonNode value, Consumer<String> ignored) {
        Fields outputs = Fields.of(field, value);
        Schemas schemas = new Schemas(outputs.flag(COMPACT), ignored);
        List<Grammar> found = new ArrayList<>();
        KINDS.forEach((kind, reader) ->
                given(outputs, kind).ifPresent(node -> found.add(reader.read(field + "." + kind, node, schemas))));
        requireRead(field, outputs);
        if (found.size() != 1) {
            throw ApiError.badField(
                    field,
                    field + " has " + found.size() + " grammars; it must have one of "
                            + String.join(", ", new TreeSet<>(KINDS.keySet())));
        }
        return found.getFirst();
    }

    /** Returns whether no field is left that has an effect. */
    private static boolean isRead(Fields object) {
        return object.unread().stream().noneMatch(name -> given(object, name).isPresent());
    }

    private static void requireRead(String field, Fields object) {
        object.unread().stream()
                .filter(name -> given(object, name).isPresent())
                .findFirst()
                .ifPresent(name -> {
                    throw ApiError.badField(field, field + "." + name + " is not supported; remove it");
                });
    }

    private static String string(String field, JsonNode value) {
        if (!value.isString()) {
            throw Fields.wrong(field, value, "a string");
        }
        return value.stringValue();
    }

    private static Grammar choice(String field, JsonNode value) {
        List<String> texts = new ArrayList<>();
        if (!value.isArray()) {
            throw Fields.wrong(field, value, "a list of texts");
        }
        for (JsonNode text : value) {
            texts.add(string(field + "[" + texts.size() + "]", text));
        }
        return Grammar.choice(texts);
    }
}
