package io.roseinfer.grammar;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A JSON Schema with its subschemas, and the resolution of references between them. Used by one thread. */
final class SchemaDocument {
    /** The versions of JSON Schema that differ here. */
    enum Dialect {
        DRAFT_4,
        DRAFT_6_OR_7,
        LATER;

        static Dialect of(JsonNode root) {
            String uri = root.path("$schema").asString("");
            if (uri.contains("draft-03") || uri.contains("draft-02") || uri.contains("draft-01")) {
                throw new BadInput(
                        "the schema's $schema is " + Quoted.name(uri) + "; supported are draft 4 to 2020-12");
            }
            if (uri.contains("draft-04")) {
                return DRAFT_4;
            }
            if (uri.contains("draft-05") || uri.contains("draft-06") || uri.contains("draft-07")) {
                return DRAFT_6_OR_7;
            }
            return LATER;
        }

        boolean ignoresSiblingsOfRef() {
            return this == DRAFT_4 || this == DRAFT_6_OR_7;
        }
    }

    private static final Set<String> SCHEMA_KEYWORDS = Set.of(
            "additionalItems",
            "additionalProperties",
            "contains",
            "else",
            "if",
            "items",
            "not",
            "propertyNames",
            "then",
            "unevaluatedItems",
            "unevaluatedProperties");

    private static final Set<String> SCHEMA_LISTS = Set.of("allOf", "anyOf", "items", "oneOf", "prefixItems");

    private static final Set<String> SCHEMA_MAPS =
            Set.of("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties");

    /** Maximum elements by keyword. */
    private static final Map<String, Integer> MAX_SIZES = Map.of(
            "allOf", GrammarSize.KEYWORD_SIZE,
            "anyOf", GrammarSize.KEYWORD_SIZE,
            "enum", GrammarSize.ENUM_VALUES,
            "items", GrammarSize.KEYWORD_SIZE,
            "oneOf", GrammarSize.ONE_OF,
            "patternProperties", GrammarSize.NAME_PATTERNS,
            "prefixItems", GrammarSize.KEYWORD_SIZE,
            "properties", GrammarSize.KEYWORD_SIZE,
            "required", GrammarSize.KEYWORD_SIZE);

    /** Every keyword of draft 4 to 2020-12, also those that are rejected. */
    private static final Set<String> KEYWORDS = Set.of(("$schema $id id $ref $anchor $dynamicRef $dynamicAnchor $recursiveRef"
                    + " $recursiveAnchor $vocabulary $comment $defs definitions $data type enum const allOf anyOf oneOf not if"
                    + " then else dependentSchemas dependentRequired dependencies prefixItems items additionalItems contains"
                    + " minContains maxContains properties patternProperties additionalProperties propertyNames"
                    + " unevaluatedItems unevaluatedProperties multipleOf divisibleBy maximum exclusiveMaximum minimum"
                    + " exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems maxProperties"
                    + " minProperties required format contentEncoding contentMediaType contentSchema title description"
                    + " default deprecated readOnly writeOnly examples disallow extends")
            .split(" "));

    private final JsonNode root;
    private final Dialect dialect;
    private final IdentityHashMap<JsonNode, SchemaSource> sources = new IdentityHashMap<>();
    private final Map<String, JsonNode> resources = new HashMap<>();
    private final Map<String, JsonNode> anchors = new HashMap<>();
    private final Map<String, Integer> dynamicAnchors = new HashMap<>();
    private final IdentityHashMap<JsonNode, String> bases = new IdentityHashMap<>();
    private final List<String> unknown = new ArrayList<>();
    private int schemas = 1;
    private long literals;

    SchemaDocument(JsonNode root) {
        this.root = root;
        this.dialect = Dialect.of(root);
        resources.put("", root);
        index(root, "", "");
    }

    /** Returns the JSON pointers of keywords that JSON Schema does not have; they have no effect. */
    List<String> unknownKeywords() {
        return unknown;
    }

    Dialect dialect() {
        return dialect;
    }

    SchemaSource root() {
        return source(root, bases.getOrDefault(root, ""), "");
    }

    /** Returns the schema at a keyword of another. */
    SchemaSource child(SchemaSource parent, String keyword, JsonNode schema) {
        return source(schema, parent.base(), parent.pointer() + "/" + keyword);
    }

    private SchemaSource source(JsonNode schema, String base, String pointer) {
        if (!schema.isObject() && !schema.isBoolean()) {
            throw new BadInput("the schema at " + (pointer.isEmpty() ? "the root" : Quoted.value(pointer)) + " is "
                    + Quoted.value(schema.toString()) + "; it must be an object, true or false");
        }
        if (schema.isBoolean()) {
            return new SchemaSource(schema, base, pointer);
        }
        return sources.computeIfAbsent(schema, key -> new SchemaSource(key, bases.getOrDefault(key, base), pointer));
    }

    private void index(JsonNode schema, String outer, String pointer) {
        if (!schema.isObject()) {
            return;
        }
        requireFew(schema.size(), GrammarSize.KEYWORD_SIZE, "keywords of ", pointer.isEmpty() ? "the root" : pointer);
        String base = outer;
        JsonNode id = schema.path(dialect == Dialect.DRAFT_4 ? "id" : "$id");
        boolean ignored = dialect.ignoresSiblingsOfRef() && schema.has("$ref");
        if (id.isString() && !ignored) {
            String uri = id.stringValue();
            if (uri.startsWith("#")) {
                anchors.put(base + uri, schema);
            } else {
                base = resolved(outer, uri);
                resources.putIfAbsent(base, schema);
            }
        }
        for (String keyword : new String[] {"$anchor", "$dynamicAnchor"}) {
            JsonNode anchor = schema.path(keyword);
            if (anchor.isString()) {
                anchors.put(base + "#" + anchor.stringValue(), schema);
                if (keyword.equals("$dynamicAnchor")) {
                    dynamicAnchors.merge(anchor.stringValue(), 1, Integer::sum);
                }
            }
        }
        if (schema.path("$recursiveAnchor").asBoolean(false)) {
            dynamicAnchors.merge("", 1, Integer::sum);
        }
        bases.put(schema, base);
        for (Map.Entry<String, JsonNode> entry : schema.properties()) {
            String keyword = entry.getKey();
            String at = pointer + "/" + keyword;
            JsonNode value = entry.getValue();
            requireSmall(keyword, value, at);
            addLiterals(keyword, value);
            if (!KEYWORDS.contains(keyword)) {
                unknown.add(at);
            } else if (SCHEMA_KEYWORDS.contains(keyword) && value.isObject()) {
                addSchemas(1);
                index(value, base, at);
            } else if (SCHEMA_LISTS.contains(keyword) && value.isArray()) {
                addSchemas(value.size());
                for (int i = 0; i < value.size(); i++) {
                    index(value.get(i), base, at + "/" + i);
                }
            } else if (SCHEMA_MAPS.contains(keyword) && value.isObject()) {
                addSchemas(value.size());
                for (Map.Entry<String, JsonNode> element : value.properties()) {
                    index(element.getValue(), base, at + "/" + element.getKey());
                }
            }
        }
    }

    /** Requires that the elements of a keyword can be read in little time, before any is. */
    private static void requireSmall(String keyword, JsonNode value, String pointer) {
        Integer max = MAX_SIZES.get(keyword);
        if (max == null || !(value.isArray() || SCHEMA_MAPS.contains(keyword))) {
            return;
        }
        requireFew(value.size(), max, "elements of ", pointer);
        if (keyword.equals("enum") && value.size() > GrammarSize.COMBINED_VALUES) {
            int combined = 0;
            for (JsonNode one : value) {
                combined += one.isNumber() || one.isContainer() ? 1 : 0;
            }
            requireFew(combined, GrammarSize.COMBINED_VALUES, "numbers, arrays and objects of ", pointer);
        }
    }

    /** Bounds names and constants, which are compiled character by character, before any is read. */
    private void addLiterals(String keyword, JsonNode value) {
        switch (keyword) {
            case "const", "enum", "required", "dependentRequired" -> literals += JsonSchema.length(value);
            case "properties" -> {
                for (Map.Entry<String, JsonNode> property : value.properties()) {
                    literals += property.getKey().length();
                }
            }
            default -> {
                return;
            }
        }
        GrammarSize.require(
                literals <= GrammarSize.LITERAL_CHARS,
                "the number of characters of the schema's names and constants",
                literals,
                "at most " + GrammarSize.LITERAL_CHARS + "; shorten them, or split the schema");
    }

    private void addSchemas(int count) {
        schemas += count;
        requireFew(schemas, GrammarSize.SCHEMAS, "schemas of ", "the document");
    }

    private static void requireFew(int count, int max, String what, String of) {
        if (count > max) {
            throw GrammarSize.exceeded(
                    "the number of " + what + Quoted.value(of), count, "at most " + max + "; split the schema");
        }
    }

    private static String resolved(String base, String uri) {
        try {
            String whole = base.isEmpty() ? uri : URI.create(base).resolve(uri).toString();
            return whole.endsWith("#") ? whole.substring(0, whole.length() - 1) : whole;
        } catch (IllegalArgumentException e) {
            return uri;
        }
    }

    /**
     * Returns the schema that a reference names.
     *
     * @throws BadInput if it is in another document or does not exist
     */
    SchemaSource resolve(SchemaSource from, String reference) {
        int hash = reference.indexOf('#');
        String uri = hash < 0 ? reference : reference.substring(0, hash);
        String fragment = hash < 0 ? "" : decoded(reference.substring(hash + 1));
        String base = uri.isEmpty() ? from.base() : resolved(from.base(), uri);
        JsonNode resource = resources.get(base);
        if (resource == null) {
            throw new BadInput("$ref " + Quoted.name(reference) + " at " + from
                    + " names another document; only references within the schema are supported");
        }
        if (fragment.isEmpty()) {
            return source(resource, base, "");
        }
        if (fragment.startsWith("/")) {
            return pointed(resource, base, fragment, reference, from);
        }
        JsonNode anchored = anchors.get(base + "#" + fragment);
        if (anchored == null) {
            throw missing(reference, from);
        }
        return source(anchored, base, "#" + fragment);
    }

    /** Returns the schema that a dynamic reference names if it can only be one; null if that depends on the path. */
    @Nullable
    SchemaSource resolveDynamic(SchemaSource from, String reference) {
        String name = reference.substring(reference.indexOf('#') + 1);
        return dynamicAnchors.getOrDefault(name, 0) > 1 ? null : resolve(from, reference);
    }

    private SchemaSource pointed(JsonNode resource, String base, String pointer, String reference, SchemaSource from) {
        JsonNode node = resource;
        String current = base;
        for (String token : pointer.substring(1).split("/", -1)) {
            String key = token.replace("~1", "/").replace("~0", "~");
            JsonNode next = node.isArray() && key.matches("0|[1-9][0-9]{0,8}")
                    ? node.get(Integer.parseInt(key))
                    : node.isObject() ? node.get(key) : null;
            if (next == null) {
                throw missing(reference, from);
            }
            node = next;
            current = bases.getOrDefault(node, current);
        }
        return source(node, current, pointer);
    }

    private static BadInput missing(String reference, SchemaSource from) {
        return new BadInput("$ref " + Quoted.name(reference) + " at " + from + " names a schema that does not exist");
    }

    private static String decoded(String fragment) {
        try {
            return URLDecoder.decode(fragment.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return fragment;
        }
    }
}
