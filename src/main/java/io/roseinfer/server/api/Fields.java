package io.roseinfer.server.api;

import io.roseinfer.base.Printable;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The fields of a JSON object, with strict types: a number in a string is a string. An integer may have a zero
 * fraction. A null field is treated as absent. Errors name the field.
 */
public final class Fields {
    private static final int MAX_NAMED = 20;

    private final JsonNode object;
    private final Set<String> read = new HashSet<>();
    private final List<String> ignored = new ArrayList<>();

    private Fields(JsonNode object) {
        this.object = object;
    }

    /** Parses a body, which must be an object. */
    public static Fields parse(byte[] body) {
        return parse("the body", 1, body);
    }

    /**
     * Parses a line of a file, which must be an object.
     *
     * @param number of the line, from 1
     */
    public static Fields parseLine(byte[] line, long number) {
        return parse("the line", number, line);
    }

    /**
     * Parses an object.
     *
     * @param what its name in messages
     * @param firstLine number of its first line in messages
     */
    private static Fields parse(String what, long firstLine, byte[] json) {
        JsonNode root;
        try {
            root = StrictJson.parse(json);
        } catch (JacksonException e) {
            TokenStreamLocation at = e.getLocation();
            String where = at == null || at.getLineNr() < 1
                    ? ""
                    : " at line " + (firstLine + at.getLineNr() - 1) + ", column " + at.getColumnNr();
            String reason = StrictJson.reason(e);
            String verdict = reason.startsWith("Duplicate ") || reason.startsWith("Document nesting ")
                    ? " is invalid"
                    : " is not JSON";
            throw ApiError.badRequest(what + verdict + where + ": " + Printable.line(reason));
        }
        if (root.isMissingNode()) {
            throw ApiError.badRequest(what + " is empty; it must be a JSON object");
        }
        if (!root.isObject()) {
            throw ApiError.badRequest(what + " is " + name(root) + "; it must be a JSON object");
        }
        return new Fields(root);
    }

    /**
     * Returns the fields of a value, which must be an object.
     *
     * @param field its name in messages
     */
    static Fields of(String field, JsonNode value) {
        if (!value.isObject()) {
            throw wrong(field, value, "an object");
        }
        return new Fields(value);
    }

    /** Returns the field, if it is present and not null. */
    public Optional<JsonNode> find(String field) {
        read.add(field);
        JsonNode node = object.get(field);
        return node == null || node.isNull() ? Optional.empty() : Optional.of(node);
    }

    public Optional<String> string(String field) {
        return find(field).map(node -> {
            if (!node.isString()) {
                throw wrong(field, node, "a string");
            }
            return node.stringValue();
        });
    }

    public boolean flag(String field) {
        return flag(field, false);
    }

    public boolean flag(String field, boolean absent) {
        return find(field)
                .map(node -> {
                    if (!node.isBoolean()) {
                        throw wrong(field, node, "true or false");
                    }
                    return node.booleanValue();
                })
                .orElse(absent);
    }

    public OptionalLong integer(String field) {
        Optional<JsonNode> node = find(field);
        return node.isEmpty() ? OptionalLong.empty() : OptionalLong.of(integer(field, node.get()));
    }

    /** Returns an integer within bounds. */
    public int integer(String field, int absent, int min, int max) {
        OptionalLong value = integer(field);
        if (value.isEmpty()) {
            return absent;
        }
        if (value.getAsLong() < min || value.getAsLong() > max) {
            throw ApiError.badField(field, field + " is " + value.getAsLong() + "; it must be " + min + " to " + max);
        }
        return (int) value.getAsLong();
    }

    private static long integer(String field, JsonNode node) {
        if (node.isIntegralNumber() && node.canConvertToLong()) {
            return node.longValue();
        }
        if (node.isFloatingPointNumber()) {
            double value = node.doubleValue();
            if (value == Math.rint(value) && Math.abs(value) < 1L << 53) {
                return (long) value;
            }
        }
        throw wrong(field, node, "an integer");
    }

    /** Returns a number whose range another class checks; errors name the field. */
    public <T> T number(String field, T absent, Function<Float, T> checked) {
        Optional<JsonNode> node = find(field);
        if (node.isEmpty()) {
            return absent;
        }
        if (!node.get().isNumber()) {
            throw wrong(field, node.get(), "a number");
        }
        return checked(field, () -> checked.apply((float) node.get().doubleValue()));
    }

    /** Runs a check of another class, and names the field in its error. */
    public static <T> T checked(String field, Supplier<T> check) {
        try {
            return check.get();
        } catch (BadInput bad) {
            throw ApiError.badField(field, bad.jsonMessage());
        }
    }

    /** Runs a check of another class whose errors begin with the path of a field, or else are about this field. */
    static <T> T located(String field, Supplier<T> check) {
        try {
            return check.get();
        } catch (BadInput bad) {
            throw ApiError.badField(bad.setting().isEmpty() ? field : bad.setting(), bad.jsonMessage());
        }
    }

    /** Runs an action of another class, and names the field in its error. */
    public static void check(String field, Runnable action) {
        boolean unused = checked(field, () -> {
            action.run();
            return true;
        });
    }

    /** Returns one string, or a list of strings; empty if absent. */
    public List<String> strings(String field) {
        Optional<JsonNode> node = find(field);
        if (node.isEmpty()) {
            return List.of();
        }
        if (node.get().isString()) {
            return List.of(node.get().stringValue());
        }
        if (!node.get().isArray()) {
            throw wrong(field, node.get(), "a string or a list of strings");
        }
        List<String> values = new ArrayList<>();
        for (JsonNode element : node.get()) {
            if (!element.isString()) {
                throw wrong(field, element, "a string or a list of strings");
            }
            values.add(element.stringValue());
        }
        return values;
    }

    /** Returns a list of token ids. */
    public static int[] ids(String field, JsonNode list) {
        int[] ids = new int[list.size()];
        int count = 0;
        for (JsonNode element : list) {
            long id = integer(field, element);
            if (id < 0 || id > Integer.MAX_VALUE) {
                throw ApiError.badField(field, field + " has token id " + id + "; ids must not be negative");
            }
            ids[count++] = (int) id;
        }
        return ids;
    }

    /** Returns the fields of an object within this one; empty if absent. */
    public Optional<Fields> object(String field) {
        return find(field).map(node -> of(field, node));
    }

    /** Returns a copy of the object, with the same values. */
    ObjectNode copy() {
        return StrictJson.mapper().createObjectNode().setAll((ObjectNode) object);
    }

    /** Adds the name of something within a field that has no effect. */
    void ignore(String name) {
        ignored.add(name);
    }

    /** Returns the fields that were not read, and what was ignored within others, sanitized for a header. */
    public List<String> unread() {
        return Stream.concat(object.propertyNames().stream().filter(name -> !read.contains(name)), ignored.stream())
                .limit(MAX_NAMED)
                .map(name -> Quoted.value(name).replaceAll("[^ -~]", "?"))
                .toList();
    }

    static ApiError wrong(String field, JsonNode seen, String allowed) {
        return ApiError.badField(field, field + " is " + name(seen) + "; it must be " + allowed);
    }

    private static String name(JsonNode node) {
        return switch (node.getNodeType()) {
            case ARRAY -> "a list";
            case OBJECT -> "an object";
            case STRING -> "the string " + Quoted.name(node.stringValue());
            case NULL, MISSING -> "null";
            case NUMBER ->
                Double.isFinite(node.doubleValue()) ? Quoted.value(node.toString()) : "a number out of range";
            default -> Quoted.value(node.toString());
        };
    }
}
