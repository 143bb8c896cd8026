package io.roseinfer.grammar;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.grammar.Condition.All;
import io.roseinfer.grammar.DecimalSet.Relation;
import io.roseinfer.grammar.ObjectShape.Names;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Reads the keywords of schemas: the set of values that fulfil conditions, one level deep. Conditions on the elements
 * and properties of a value stay unread until they are needed, so schemas may refer to each other.
 *
 * <p>Used by one thread.
 */
final class SchemaReader {
    /** Keywords that fix the order of properties where they stand. */
    private static final Set<String> OBJECT_KEYWORDS = Set.of(
            "properties",
            "required",
            "patternProperties",
            "additionalProperties",
            "propertyNames",
            "unevaluatedProperties");

    /** Keywords that bound an object's number of properties. */
    private static final Set<String> OBJECT_SIZES = Set.of("minProperties", "maxProperties");

    /** Keywords that restrict arrays; others refine one of them. */
    private static final Set<String> ARRAY_KEYWORDS =
            Set.of("items", "prefixItems", "unevaluatedItems", "contains", "uniqueItems", "minItems", "maxItems");

    /** Assertions that are rejected by name. */
    private static final Set<String> UNSUPPORTED = Set.of("divisibleBy", "disallow", "extends", "$data");

    /** Alternatives of objects above which empty ones are looked for. */
    private static final int MANY_ALTERNATIVES = 16;

    /** Decisions within each other above which objects are assumed to exist. */
    private static final int MAX_DECISIONS = 16;

    /** Steps of work that one schema counts as. */
    private static final int SCHEMA_STEPS = 25;

    private final SchemaDocument document;
    private final Map<All, ValueShape> shapes = new HashMap<>();
    private final Map<Condition, ValueShape> single = new HashMap<>();
    private final Set<Condition> open = new HashSet<>();
    private final SchemaEmptiness emptiness = new SchemaEmptiness(this);
    private int depth;
    /** The number of decisions within each other whether objects exist. */
    private int decisions;

    SchemaReader(SchemaDocument document) {
        this.document = document;
    }

    /** A schema whose meaning depends on itself without a property or an element in between. */
    static final class CircularException extends RuntimeException {
        private final SchemaSource source;

        CircularException(SchemaSource source) {
            super(null, null, false, false);
            this.source = source;
        }

        BadInput asBadInput() {
            return new BadInput("the schema at " + source + " refers to itself without a property or element between");
        }
    }

    /**
     * Returns the values that fulfil all conditions.
     *
     * @throws BadInput if a keyword is malformed or not supported
     */
    ValueShape shape(All all) {
        ValueShape known = shapes.get(all);
        if (known != null) {
            return known;
        }
        GrammarSize.require(
                shapes.size() < GrammarSize.SCHEMAS,
                "the number of combined schemas",
                shapes.size() + 1,
                "at most " + GrammarSize.SCHEMAS);
        ValueShape shape = ValueShape.ALL;
        for (Condition condition : all.conditions()) {
            shape = both(shape, shape(condition));
        }
        shapes.put(all, shape);
        return shape;
    }

    private ValueShape shape(Condition condition) {
        ValueShape known = single.get(condition);
        if (known != null) {
            return known;
        }
        if (!open.add(condition)) {
            throw new CircularException(
                    condition instanceof Condition.Schema(SchemaSource source) ? source : document.root());
        }
        GrammarSize.require(
                ++depth <= GrammarSize.SCHEMA_DEPTH,
                "the nesting of schemas for one value",
                depth,
                "at most " + GrammarSize.SCHEMA_DEPTH);
        try {
            ValueShape shape =
                    switch (condition) {
                        case Condition.Constant(JsonNode value) -> constant(value);
                        case Condition.Not(All operand) -> complement(operand);
                        case Condition.Schema(SchemaSource source) -> schema(source);
                    };
            single.put(condition, shape);
            return shape;
        } finally {
            depth--;
            open.remove(condition);
        }
    }

    private ValueShape complement(All operand) {
        ValueShape shape = shape(operand);
        try {
            return shape.not();
        } catch (BadInput e) {
            throw located(operand.place(), e);
        }
    }

    private static BadInput located(String place, BadInput e) {
        return new BadInput("the schema at " + place + ": " + e.getMessage(), e);
    }

    /** Returns where a value that must exist has no value, for a schema that is valid for no value. */
    String contradiction(All all) {
        Set<All> seen = new HashSet<>();
        All at = all;
        try {
            for (All next = at; next != null && seen.add(next); next = emptiness.emptyPart(at)) {
                at = next;
            }
        } catch (CircularException | BadInput undecided) {
            return at.place();
        }
        return at.place();
    }

    // --- constants --------------------------------------------------------------------------------------------------

    private static ValueShape constant(JsonNode value) {
        return switch (value.getNodeType()) {
            case NULL -> new ValueShape(true, 0, DecimalSet.NONE, Texts.Finite.NONE, List.of(), List.of());
            case BOOLEAN ->
                new ValueShape(
                        false, value.booleanValue() ? 2 : 1, DecimalSet.NONE, Texts.Finite.NONE, List.of(), List.of());
            case NUMBER -> {
                boolean infinite = value.isDouble() && Double.isInfinite(value.doubleValue());
                GrammarSize.require(!infinite, "a constant", value, "a finite number");
                yield ValueShape.NONE.withNumbers(DecimalSet.of(Relation.EQUAL, value.decimalValue(), "a constant"));
            }
            case STRING -> ValueShape.NONE.withStrings(new Texts.Finite(List.of(value.stringValue())));
            case ARRAY -> {
                List<All> elements = new ArrayList<>();
                value.forEach(element -> elements.add(All.of(new Condition.Constant(element))));
                int size = elements.size();
                yield ValueShape.ofArrays(List.of(new ArrayShape(elements, All.TRUE, size, size, List.of(), false)));
            }
            case OBJECT -> {
                Map<String, All> properties = new LinkedHashMap<>();
                value.properties()
                        .forEach(property ->
                                properties.put(property.getKey(), All.of(new Condition.Constant(property.getValue()))));
                Set<String> names = properties.keySet();
                yield ValueShape.ofObjects(List.of(new ObjectShape(
                        properties, names, names, List.of(), List.of(), 0, ObjectShape.UNBOUNDED)));
            }
            default -> throw new BadInput("a constant of type " + value.getNodeType() + " is not JSON");
        };
    }

    private ValueShape enumeration(SchemaSource source, JsonNode values) {
        require(values.isArray(), source, "enum", values, "an array");
        List<String> texts = new ArrayList<>();
        List<DecimalSet> numbers = new ArrayList<>();
        List<ValueShape> shapes = new ArrayList<>();
        for (JsonNode value : values) {
            if (value.isString()) {
                texts.add(value.stringValue());
            } else if (value.isNumber()) {
                numbers.add(constant(value).numbers());
            } else {
                shapes.add(constant(value));
            }
        }
        shapes.add(ValueShape.NONE.withStrings(new Texts.Finite(new ArrayList<>(new LinkedHashSet<>(texts)))));
        while (numbers.size() > 1) {
            numbers.add(numbers.removeFirst().or(numbers.removeFirst()));
        }
        numbers.forEach(set -> shapes.add(ValueShape.NONE.withNumbers(set)));
        return ValueShape.anyOf(shapes.stream());
    }

    // --- schemas ----------------------------------------------------------------------------------------------------

    private ValueShape schema(SchemaSource source) {
        GrammarWork.add(SCHEMA_STEPS);
        JsonNode schema = source.schema();
        if (source.isTrue()) {
            return ValueShape.ALL;
        }
        if (source.isFalse()) {
            return ValueShape.NONE;
        }
        if (schema.has("$ref") && document.dialect().ignoresSiblingsOfRef()) {
            return reference(source, schema.get("$ref"));
        }
        ValueShape shape = ValueShape.ALL;
        boolean typed = false;
        for (Map.Entry<String, JsonNode> entry : schema.properties()) {
            String keyword = entry.getKey();
            if (UNSUPPORTED.contains(keyword)) {
                throw unsupported(source, keyword);
            }
            if (OBJECT_KEYWORDS.contains(keyword) && !typed) {
                shape = both(shape, typed(source));
                typed = true;
            }
            shape = both(shape, applied(source, keyword, entry.getValue()));
        }
        return typed ? shape : both(shape, typed(source));
    }

    /** Returns the common values; drops empty alternatives when there are many, since they multiply. */
    private ValueShape both(ValueShape left, ValueShape right) {
        ValueShape both = left.and(right);
        boolean grew = both.objects().size()
                > Math.max(left.objects().size(), right.objects().size());
        if (!grew || both.objects().size() <= MANY_ALTERNATIVES) {
            return both;
        }
        return both.withObjects(
                both.objects().stream().filter(this::mayHaveObjects).toList());
    }

    private boolean mayHaveObjects(ObjectShape shape) {
        if (decisions == MAX_DECISIONS) {
            return true;
        }
        decisions++;
        try {
            return !emptiness.isCertainlyEmpty(shape);
        } catch (CircularException | BadInput undecided) {
            GrammarWork.requireLeft();
            return true;
        } finally {
            decisions--;
        }
    }

    /** Returns the values that a keyword allows which applies schemas to the value itself. */
    private ValueShape applied(SchemaSource source, String keyword, JsonNode value) {
        return switch (keyword) {
            case "$ref" -> reference(source, value);
            case "$dynamicRef", "$recursiveRef" -> {
                require(value.isString(), source, keyword, value, "a string");
                SchemaSource target = document.resolveDynamic(source, value.stringValue());
                if (target == null) {
                    throw unsupported(source, keyword + " to several anchors");
                }
                yield shape(new Condition.Schema(target));
            }
            case "allOf" -> {
                ValueShape shape = ValueShape.ALL;
                for (Condition branch : branches(source, keyword, value)) {
                    shape = both(shape, shape(branch));
                }
                yield shape;
            }
            case "anyOf" ->
                ValueShape.anyOf(branches(source, keyword, value).stream().map(this::shape));
            case "oneOf" -> exactlyOne(source, branches(source, keyword, value));
            case "not" -> shape(All.not(child(source, keyword, value)));
            case "if" -> conditional(source, value);
            case "enum" -> enumeration(source, value);
            case "const" -> constant(value);
            case "dependentRequired", "dependentSchemas", "dependencies" -> dependencies(source, keyword, value);
            default -> ValueShape.ALL;
        };
    }

    private ValueShape reference(SchemaSource source, JsonNode value) {
        require(value.isString(), source, "$ref", value, "a string");
        return shape(All.of(new Condition.Schema(document.resolve(source, value.stringValue()))));
    }

    private All child(SchemaSource source, String keyword, JsonNode value) {
        return All.of(new Condition.Schema(document.child(source, keyword, value)));
    }

    private List<Condition> branches(SchemaSource source, String keyword, JsonNode value) {
        require(value.isArray() && !value.isEmpty(), source, keyword, value, "an array of schemas");
        List<Condition> branches = new ArrayList<>();
        for (int i = 0; i < value.size(); i++) {
            branches.add(new Condition.Schema(document.child(source, keyword + "/" + i, value.get(i))));
        }
        return branches;
    }

    private ValueShape exactlyOne(SchemaSource source, List<Condition> branches) {
        List<ValueShape> matched = branches.stream().map(this::shape).toList();
        List<ValueShape> results = new ArrayList<>();
        for (int i = 0; i < branches.size(); i++) {
            ValueShape only = matched.get(i);
            for (int j = 0; j < branches.size(); j++) {
                if (i != j && !areDisjoint(matched.get(i), matched.get(j))) {
                    only = both(only, complement(source, "oneOf", branches.get(j)));
                }
            }
            results.add(only);
        }
        return ValueShape.anyOf(results.stream());
    }

    private boolean areDisjoint(ValueShape left, ValueShape right) {
        try {
            return emptiness.areDisjoint(left, right);
        } catch (CircularException | BadInput undecided) {
            // The complement decides, and reports what is not supported.
            GrammarWork.requireLeft();
            return false;
        }
    }

    private ValueShape complement(SchemaSource source, String keyword, Condition condition) {
        try {
            return shape(All.not(All.of(condition)));
        } catch (BadInput e) {
            throw new BadInput(
                    keyword + " at " + source + " is not supported: two branches may match the same value, and "
                            + e.getMessage(),
                    e);
        }
    }

    private ValueShape conditional(SchemaSource source, JsonNode condition) {
        JsonNode then = source.schema().get("then");
        JsonNode otherwise = source.schema().get("else");
        if (then == null && otherwise == null) {
            return ValueShape.ALL;
        }
        All test = child(source, "if", condition);
        ValueShape matching = undeclared(shape(test));
        ValueShape yes = then == null ? matching : matching.and(shape(child(source, "then", then)));
        ValueShape no = shape(All.not(test));
        return yes.or(otherwise == null ? no : no.and(shape(child(source, "else", otherwise))));
    }

    /** Returns the same values; a condition on an object does not fix the order of its properties. */
    private static ValueShape undeclared(ValueShape shape) {
        return shape.withObjects(
                shape.objects().stream().map(ObjectShape::undeclared).toList());
    }

    private ValueShape dependencies(SchemaSource source, String keyword, JsonNode value) {
        require(value.isObject(), source, keyword, value, "an object");
        ValueShape shape = ValueShape.ALL;
        for (Map.Entry<String, JsonNode> dependency : value.properties()) {
            String name = dependency.getKey();
            JsonNode needs = dependency.getValue();
            ValueShape absent = ValueShape.ALL.withObjects(List.of(ObjectShape.without(name)));
            ValueShape present = ValueShape.ofObjects(List.of(ObjectShape.with(name, All.TRUE)));
            ValueShape needed;
            if (keyword.equals("dependentRequired") || needs.isArray()) {
                needed = ValueShape.ofObjects(List.of(ObjectShape.requiring(strings(source, keyword, needs))));
            } else if (keyword.equals("dependencies") && needs.isString()) {
                needed = ValueShape.ofObjects(List.of(ObjectShape.with(needs.stringValue(), All.TRUE)));
            } else {
                needed = shape(child(source, keyword + "/" + name, needs));
            }
            shape = both(shape, absent.or(present.and(needed)));
        }
        return shape;
    }

    // --- keywords by type -------------------------------------------------------------------------------------------

    private ValueShape typed(SchemaSource source) {
        ValueShape types = types(source);
        ValueShape limits = ValueShape.ALL
                .withNumbers(numbers(source))
                .withStrings(strings(source))
                .withArrays(arrays(source))
                .withObjects(objects(source));
        return types.and(limits);
    }

    private ValueShape types(SchemaSource source) {
        JsonNode type = source.schema().get("type");
        if (type == null) {
            return ValueShape.ALL;
        }
        require(
                type.isString() || (type.isArray() && !type.isEmpty()),
                source,
                "type",
                type,
                "a type or an array of types");
        if (type.isString()) {
            return type(source, type);
        }
        ValueShape shape = ValueShape.NONE;
        for (JsonNode one : type) {
            shape = shape.or(type(source, one));
        }
        return shape;
    }

    private static ValueShape type(SchemaSource source, JsonNode type) {
        return switch (type.asString("")) {
            case "null" -> new ValueShape(true, 0, DecimalSet.NONE, Texts.Finite.NONE, List.of(), List.of());
            case "boolean" -> new ValueShape(false, 3, DecimalSet.NONE, Texts.Finite.NONE, List.of(), List.of());
            case "integer" -> ValueShape.NONE.withNumbers(DecimalSet.INTEGERS);
            case "number" -> ValueShape.NONE.withNumbers(DecimalSet.ALL);
            case "string" -> ValueShape.NONE.withStrings(Texts.Pattern.ALL);
            case "array" -> ValueShape.ofArrays(List.of(ArrayShape.ANY));
            case "object" -> ValueShape.ofObjects(List.of(ObjectShape.ANY));
            default -> throw malformed(source, "type", type, "null, boolean, integer, number, string, array or object");
        };
    }

    private DecimalSet numbers(SchemaSource source) {
        JsonNode schema = source.schema();
        DecimalSet set = DecimalSet.ALL;
        for (String keyword : new String[] {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}) {
            JsonNode bound = schema.get(keyword);
            if (bound == null) {
                continue;
            }
            boolean exclusive = keyword.startsWith("exclusive");
            if (exclusive && bound.isBoolean()) {
                continue; // Draft 4: it qualifies minimum or maximum.
            }
            require(bound.isNumber(), source, keyword, bound, "a number");
            boolean lower = keyword.endsWith("inimum");
            exclusive |=
                    schema.path(lower ? "exclusiveMinimum" : "exclusiveMaximum").asBoolean(false)
                            && schema.path(lower ? "exclusiveMinimum" : "exclusiveMaximum")
                                    .isBoolean();
            Relation relation = lower
                    ? exclusive ? Relation.GREATER : Relation.GREATER_OR_EQUAL
                    : exclusive ? Relation.LESS : Relation.LESS_OR_EQUAL;
            set = set.and(DecimalSet.of(relation, decimal(source, keyword, bound), keyword));
        }
        JsonNode divisor = schema.get("multipleOf");
        if (divisor != null) {
            require(divisor.isNumber(), source, "multipleOf", divisor, "a positive number");
            BigDecimal value = decimal(source, "multipleOf", divisor);
            require(value.signum() > 0, source, "multipleOf", divisor, "a positive number");
            set = set.and(DecimalSet.multiplesOf(value));
        }
        JsonNode format = schema.get("format");
        if (format != null && format.isString()) {
            DecimalSet integers = JsonFormats.integers(format.stringValue());
            set = integers == null ? set : set.and(integers);
        }
        return set;
    }

    private Texts strings(SchemaSource source) {
        JsonNode schema = source.schema();
        Texts texts = Texts.Pattern.ALL;
        int min = count(source, "minLength", 0);
        int max = count(source, "maxLength", Regex.Repeat.UNBOUNDED);
        if (min > max) {
            return Texts.Finite.NONE;
        }
        JsonNode pattern = schema.get("pattern");
        if (pattern != null) {
            require(pattern.isString(), source, "pattern", pattern, "a string");
            texts = texts.and(pattern(source, pattern.stringValue()));
        }
        JsonNode format = schema.get("format");
        if (format != null) {
            require(format.isString(), source, "format", format, "a string");
            Texts formatted = JsonFormats.texts(format.stringValue());
            if (formatted == null) {
                throw new BadInput("format " + Quoted.name(format.stringValue()) + " at " + source
                        + " is not supported; use one of " + JsonFormats.names());
            }
            texts = texts.and(formatted);
        }
        return min > 0 || max < Regex.Repeat.UNBOUNDED ? texts.and(Texts.ofLength(min, max)) : texts;
    }

    private static boolean hasAny(JsonNode schema, Set<String> keywords) {
        for (Map.Entry<String, JsonNode> property : schema.properties()) {
            if (keywords.contains(property.getKey())) {
                return true;
            }
        }
        return false;
    }

    private List<ArrayShape> arrays(SchemaSource source) {
        JsonNode schema = source.schema();
        if (!hasAny(schema, ARRAY_KEYWORDS)) {
            return List.of(ArrayShape.ANY);
        }
        JsonNode items = schema.get("items");
        JsonNode first = schema.get("prefixItems");
        JsonNode after = items;
        String keyword = "items";
        if (items != null && items.isArray()) {
            require(first == null, source, "items", items, "a schema next to prefixItems");
            first = items;
            after = schema.get("additionalItems");
            keyword = "additionalItems";
        }
        List<All> prefix = new ArrayList<>();
        if (first != null) {
            require(first.isArray(), source, "prefixItems", first, "an array of schemas");
            for (int i = 0; i < first.size(); i++) {
                prefix.add(child(source, "prefixItems/" + i, first.get(i)));
            }
        }
        JsonNode unevaluated = schema.get("unevaluatedItems");
        if (unevaluated != null && !isTrue(unevaluated)) {
            requireNoApplicators(source, "unevaluatedItems");
            if (schema.has("contains")) {
                throw unsupported(source, "unevaluatedItems next to contains");
            }
            if (after == null && (items == null || items.isArray())) {
                after = unevaluated;
                keyword = "unevaluatedItems";
            }
        }
        All rest = after == null ? All.TRUE : child(source, keyword, after);
        List<ArrayShape.Contains> contains = new ArrayList<>();
        JsonNode contained = schema.get("contains");
        if (contained != null) {
            contains.add(new ArrayShape.Contains(
                    child(source, "contains", contained),
                    count(source, "minContains", 1),
                    count(source, "maxContains", ArrayShape.UNBOUNDED),
                    0));
        }
        JsonNode unique = schema.get("uniqueItems");
        require(unique == null || unique.isBoolean(), source, "uniqueItems", unique, "true or false");
        ArrayShape shape = new ArrayShape(
                        prefix,
                        rest,
                        count(source, "minItems", 0),
                        count(source, "maxItems", ArrayShape.UNBOUNDED),
                        contains,
                        unique != null && unique.booleanValue())
                .normalized();
        return shape == null ? List.of() : List.of(shape);
    }

    private List<ObjectShape> objects(SchemaSource source) {
        JsonNode schema = source.schema();
        if (!hasAny(schema, OBJECT_KEYWORDS) && !hasAny(schema, OBJECT_SIZES)) {
            return List.of(ObjectShape.ANY);
        }
        JsonNode properties = schema.get("properties");
        Map<String, All> named = new LinkedHashMap<>();
        if (properties != null) {
            require(properties.isObject(), source, "properties", properties, "an object");
            properties
                    .properties()
                    .forEach(property -> named.put(
                            property.getKey(), child(source, "properties/" + property.getKey(), property.getValue())));
        }
        JsonNode additional = schema.get("additionalProperties");
        String keyword = "additionalProperties";
        JsonNode unevaluated = schema.get("unevaluatedProperties");
        if (unevaluated != null && !isTrue(unevaluated)) {
            requireNoApplicators(source, "unevaluatedProperties");
            if (additional == null) {
                additional = unevaluated;
                keyword = "unevaluatedProperties";
            }
        }
        List<Names> others = new ArrayList<>();
        others.add(new Names(Texts.Pattern.ALL, All.TRUE));
        List<Names> patterns = patterns(source);
        if (!patterns.isEmpty()) {
            others = divided(patterns, additional == null ? All.TRUE : child(source, keyword, additional));
            for (Names pattern : patterns) {
                named.replaceAll((name, value) -> pattern.names().contains(name) ? value.and(pattern.value()) : value);
            }
        } else if (additional != null) {
            others.set(0, new Names(Texts.Pattern.ALL, child(source, keyword, additional)));
        }
        others.removeIf(one -> one.value().isFalse());
        ObjectShape shape = new ObjectShape(
                named,
                named.keySet(),
                Set.of(),
                others,
                List.of(),
                count(source, "minProperties", 0),
                count(source, "maxProperties", ObjectShape.UNBOUNDED));
        JsonNode required = schema.get("required");
        if (required != null) {
            shape = shape.and(ObjectShape.requiring(strings(source, "required", required)));
        }
        JsonNode names = schema.get("propertyNames");
        if (names != null && shape != null) {
            Texts allowed = shape(child(source, "propertyNames", names)).strings();
            shape = shape.and(
                    allowed instanceof Texts.Finite(List<String> listed)
                            ? ObjectShape.ofNames(listed)
                            : ObjectShape.ofOthers(List.of(new Names(allowed, All.TRUE))));
        }
        ObjectShape normal = shape == null ? null : shape.normalized();
        return normal == null ? List.of() : List.of(normal);
    }

    private static boolean isTrue(JsonNode schema) {
        return schema.isBoolean() ? schema.booleanValue() : schema.isObject() && schema.isEmpty();
    }

    /** Throws if schemas for the same value may evaluate properties or elements. */
    private static void requireNoApplicators(SchemaSource source, String unevaluated) {
        for (String keyword : new String[] {
            "$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "dependencies"
        }) {
            if (source.schema().has(keyword)) {
                throw unsupported(source, unevaluated + " next to " + keyword);
            }
        }
    }

    private List<Names> patterns(SchemaSource source) {
        JsonNode patterns = source.schema().get("patternProperties");
        if (patterns == null) {
            return List.of();
        }
        require(patterns.isObject(), source, "patternProperties", patterns, "an object");
        List<Names> result = new ArrayList<>();
        patterns.properties()
                .forEach(pattern -> result.add(new Names(
                        pattern(source, pattern.getKey()),
                        child(source, "patternProperties/" + pattern.getKey(), pattern.getValue()))));
        return result;
    }

    /** Divides names into classes by the patterns that they match; those that match none are additional. */
    private static List<Names> divided(List<Names> patterns, All additional) {
        record Part(Texts names, @Nullable All value) {}
        List<Part> parts = List.of(new Part(Texts.Pattern.ALL, null));
        for (Names pattern : patterns) {
            List<Part> finer = new ArrayList<>();
            for (Part part : parts) {
                Texts inside = part.names.and(pattern.names());
                Texts outside = part.names.and(pattern.names().not());
                if (!inside.isEmpty()) {
                    finer.add(new Part(inside, part.value == null ? pattern.value() : part.value.and(pattern.value())));
                }
                if (!outside.isEmpty()) {
                    finer.add(new Part(outside, part.value));
                }
            }
            GrammarSize.require(
                    finer.size() <= GrammarSize.NAME_CLASSES,
                    "the number of classes of undeclared property names",
                    finer.size(),
                    "at most " + GrammarSize.NAME_CLASSES);
            parts = finer;
        }
        List<Names> classes = new ArrayList<>();
        parts.forEach(part -> classes.add(new Names(part.names, part.value == null ? additional : part.value)));
        return classes;
    }

    private static Texts.Pattern pattern(SchemaSource source, String pattern) {
        GrammarWork.add(pattern.length());
        try {
            return new Texts.Pattern(RegexParser.search(pattern));
        } catch (BadInput e) {
            throw located(source.toString(), e);
        }
    }

    // --- values of keywords -----------------------------------------------------------------------------------------

    private static int count(SchemaSource source, String keyword, int absent) {
        JsonNode value = source.schema().get(keyword);
        if (value == null) {
            return absent;
        }
        require(value.isNumber(), source, keyword, value, "a count");
        BigDecimal number = decimal(source, keyword, value);
        boolean whole = number.signum() >= 0 && number.stripTrailingZeros().scale() <= 0;
        require(whole, source, keyword, value, "a count");
        return number.min(BigDecimal.valueOf(Integer.MAX_VALUE)).intValueExact();
    }

    private static BigDecimal decimal(SchemaSource source, String keyword, JsonNode value) {
        try {
            return value.decimalValue();
        } catch (RuntimeException e) {
            throw malformed(source, keyword, value, "a finite number");
        }
    }

    private static List<String> strings(SchemaSource source, String keyword, JsonNode value) {
        require(value.isArray(), source, keyword, value, "an array of names");
        List<String> names = new ArrayList<>();
        for (JsonNode name : value) {
            require(name.isString(), source, keyword, value, "an array of names");
            names.add(name.stringValue());
        }
        return names;
    }

    private static void require(
            boolean allowed, SchemaSource source, String keyword, @Nullable JsonNode seen, String range) {
        if (!allowed) {
            throw malformed(source, keyword, seen, range);
        }
    }

    private static BadInput malformed(SchemaSource source, String keyword, @Nullable JsonNode seen, String range) {
        return new BadInput(
                keyword + " at " + source + " is " + Quoted.value(String.valueOf(seen)) + "; it must be " + range);
    }

    private static BadInput unsupported(SchemaSource source, String keyword) {
        return new BadInput(keyword + " at " + source + " is not supported");
    }
}
