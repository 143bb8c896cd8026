package io.roseinfer.grammar;

import java.math.BigDecimal;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import tools.jackson.databind.JsonNode;

/** A validator by the words of JSON Schema, keyword by keyword, for schemas without references. */
final class SchemaValidator {
    private SchemaValidator() {}

    static boolean isValid(JsonNode schema, JsonNode value) {
        if (schema.isBoolean()) {
            return schema.booleanValue();
        }
        return schema.properties().stream().allMatch(entry -> holds(schema, entry.getKey(), entry.getValue(), value));
    }

    private static boolean holds(JsonNode schema, String keyword, JsonNode argument, JsonNode value) {
        return switch (keyword) {
            case "type" ->
                argument.isArray()
                        ? elements(argument).stream().anyMatch(type -> isOfType(type.stringValue(), value))
                        : isOfType(argument.stringValue(), value);
            case "enum" -> elements(argument).stream().anyMatch(constant -> areEqual(constant, value));
            case "const" -> areEqual(argument, value);
            case "anyOf" -> elements(argument).stream().anyMatch(one -> isValid(one, value));
            case "allOf" -> elements(argument).stream().allMatch(one -> isValid(one, value));
            case "oneOf" ->
                elements(argument).stream().filter(one -> isValid(one, value)).count() == 1;
            case "not" -> !isValid(argument, value);
            case "if" -> {
                JsonNode branch = schema.get(isValid(argument, value) ? "then" : "else");
                yield branch == null || isValid(branch, value);
            }
            case "minLength" -> !value.isString() || length(value) >= argument.intValue();
            case "maxLength" -> !value.isString() || length(value) <= argument.intValue();
            case "pattern" ->
                !value.isString()
                        || Pattern.compile(argument.stringValue())
                                .matcher(value.stringValue())
                                .find();
            case "minimum" -> !value.isNumber() || compare(value, argument) >= 0;
            case "maximum" -> !value.isNumber() || compare(value, argument) <= 0;
            case "exclusiveMinimum" -> !value.isNumber() || compare(value, argument) > 0;
            case "exclusiveMaximum" -> !value.isNumber() || compare(value, argument) < 0;
            case "multipleOf" ->
                !value.isNumber()
                        || value.decimalValue()
                                        .remainder(argument.decimalValue())
                                        .signum()
                                == 0;
            default -> !value.isContainer() || holdsOfParts(schema, keyword, argument, value);
        };
    }

    private static boolean holdsOfParts(JsonNode schema, String keyword, JsonNode argument, JsonNode value) {
        boolean array = value.isArray();
        boolean object = value.isObject();
        return switch (keyword) {
            case "minItems" -> !array || value.size() >= argument.intValue();
            case "maxItems" -> !array || value.size() <= argument.intValue();
            case "uniqueItems" -> !array || !argument.booleanValue() || areDifferent(value);
            case "prefixItems" -> {
                boolean valid = true;
                for (int i = 0; array && i < Math.min(value.size(), argument.size()); i++) {
                    valid &= isValid(argument.get(i), value.get(i));
                }
                yield valid;
            }
            case "items" -> {
                boolean valid = true;
                for (int i = schema.path("prefixItems").size(); array && i < value.size(); i++) {
                    valid &= isValid(argument, value.get(i));
                }
                yield valid;
            }
            case "contains" -> {
                long count = elements(value).stream()
                        .filter(one -> isValid(argument, one))
                        .count();
                yield !array
                        || (count >= schema.path("minContains").asInt(1)
                                && count <= schema.path("maxContains").asInt(Integer.MAX_VALUE));
            }
            case "required" -> !object || elements(argument).stream().allMatch(name -> value.has(name.stringValue()));
            case "minProperties" -> !object || value.size() >= argument.intValue();
            case "maxProperties" -> !object || value.size() <= argument.intValue();
            case "properties" ->
                argument.properties().stream()
                        .allMatch(one -> !value.has(one.getKey()) || isValid(one.getValue(), value.get(one.getKey())));
            case "patternProperties" ->
                argument.properties().stream()
                        .allMatch(one -> value.properties().stream()
                                .allMatch(property -> !isFound(one.getKey(), property.getKey())
                                        || isValid(one.getValue(), property.getValue())));
            case "additionalProperties" ->
                value.properties().stream()
                        .allMatch(one -> isDeclared(schema, one.getKey()) || isValid(argument, one.getValue()));
            case "propertyNames" ->
                value.properties().stream()
                        .allMatch(one -> isValid(argument, JsonSchema.parse(JsonText.quoted(one.getKey()))));
            case "dependentRequired" ->
                argument.properties().stream()
                        .allMatch(one -> !value.has(one.getKey())
                                || elements(one.getValue()).stream().allMatch(name -> value.has(name.stringValue())));
            case "dependentSchemas" ->
                argument.properties().stream()
                        .allMatch(one -> !value.has(one.getKey()) || isValid(one.getValue(), value));
            default -> true;
        };
    }

    private static List<JsonNode> elements(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false).toList();
    }

    private static boolean isFound(String pattern, String text) {
        return Pattern.compile(pattern).matcher(text).find();
    }

    private static boolean isDeclared(JsonNode schema, String name) {
        return schema.path("properties").has(name)
                || schema.path("patternProperties").properties().stream()
                        .map(Map.Entry::getKey)
                        .anyMatch(pattern -> isFound(pattern, name));
    }

    private static int length(JsonNode text) {
        return text.stringValue().codePointCount(0, text.stringValue().length());
    }

    private static int compare(JsonNode left, JsonNode right) {
        return left.decimalValue().compareTo(right.decimalValue());
    }

    private static boolean isOfType(String type, JsonNode value) {
        return switch (type) {
            case "null" -> value.isNull();
            case "boolean" -> value.isBoolean();
            case "string" -> value.isString();
            case "number" -> value.isNumber();
            case "integer" ->
                value.isNumber()
                        && value.decimalValue().remainder(BigDecimal.ONE).signum() == 0;
            case "array" -> value.isArray();
            default -> value.isObject();
        };
    }

    private static boolean areEqual(JsonNode left, JsonNode right) {
        return normal(left).equals(normal(right));
    }

    private static boolean areDifferent(JsonNode array) {
        Set<Object> seen = new HashSet<>();
        return elements(array).stream().allMatch(element -> seen.add(normal(element)));
    }

    /** Returns a value's mathematical form, in which equal values are equal objects. */
    private static Object normal(JsonNode value) {
        if (value.isNumber()) {
            BigDecimal number = value.decimalValue().stripTrailingZeros();
            return number.signum() == 0 ? BigDecimal.ZERO : number;
        }
        if (value.isArray()) {
            return elements(value).stream().map(SchemaValidator::normal).toList();
        }
        if (value.isObject()) {
            Set<Object> members = new HashSet<>();
            value.properties().forEach(one -> members.add(Map.entry(one.getKey(), normal(one.getValue()))));
            return members;
        }
        return value;
    }
}
