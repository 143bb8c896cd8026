package io.roseinfer.grammar;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.Utf16;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import tools.jackson.databind.JsonNode;

/**
 * A context-free grammar whose terminals are regular languages and special tokens. Any grammar is allowed: left and
 * right recursion, ambiguity, empty rules, cycles. Immutable.
 *
 * @param start the rule that describes whole outputs
 * @param rules right side by name, in order of definition
 */
public record Grammar(String start, Map<String, Expression> rules) {
    /**
     * Creates a grammar.
     *
     * @throws BadInput if the start rule or a rule that is referred to is not defined
     */
    public Grammar {
        Objects.requireNonNull(start, "start");
        Objects.requireNonNull(rules, "rules");
        rules = Collections.unmodifiableMap(new LinkedHashMap<>(rules));
        requireDefined(start, rules);
        for (Expression right : rules.values()) {
            requireDefined(right, rules);
        }
    }

    /** Creates a grammar of one rule. */
    public static Grammar of(Expression root) {
        Objects.requireNonNull(root, "root");
        return new Grammar("root", Map.of("root", root));
    }

    /**
     * Returns the grammar of the texts that match a regular expression (ECMA-262) from start to end.
     *
     * @throws BadInput if the expression is malformed, too large or has a backreference, lookbehind or word boundary,
     *     or matches no text
     */
    public static Grammar regex(String pattern) {
        Objects.requireNonNull(pattern, "pattern");
        return GrammarWork.reading(() -> withText(of(Expression.terminal(RegexParser.match(pattern)))));
    }

    /**
     * Returns the grammar of some texts.
     *
     * @throws BadInput if the list is empty or a text has an unpaired surrogate
     */
    public static Grammar choice(List<String> texts) {
        Objects.requireNonNull(texts, "texts");
        BadInput.require(!texts.isEmpty(), "the number of choices", 0, "at least 1");
        for (String text : texts) {
            Objects.requireNonNull(text, "one of the texts");
            BadInput.require(
                    Utf16.unpairedSurrogate(text) < 0, "a choice", Quoted.name(text), "without unpaired surrogates");
        }
        return GrammarWork.reading(() -> of(Expression.terminal(JsonText.texts(texts))));
    }

    /**
     * Returns the grammar of the JSON texts that are valid against a schema; see the page on JSON Schema for what is
     * supported and how values are written. Between two tokens is nothing, a space, or one or two line feeds and up to
     * 20 spaces and tabs.
     *
     * @param schema a JSON Schema as JSON text
     * @throws BadInput if the schema is not JSON, malformed, too large, valid for no value, or has a keyword that is
     *     not supported
     */
    public static Grammar jsonSchema(String schema) {
        return jsonSchema(parseSchema(schema), JsonText.SPACE);
    }

    /**
     * Returns the grammar of a schema; see {@link #jsonSchema(String)}.
     *
     * @param maxSpace the maximum white space between two tokens, in characters; 0 for compact JSON
     */
    public static Grammar jsonSchema(String schema, int maxSpace) {
        return jsonSchema(parseSchema(schema), space(maxSpace));
    }

    /** Returns the grammar of a parsed schema; see {@link #jsonSchema(String)}. */
    public static Grammar jsonSchema(JsonNode schema) {
        return jsonSchema(JsonSchema.bounded(Objects.requireNonNull(schema, "schema")), JsonText.SPACE);
    }

    /** Returns the grammar of a parsed schema; see {@link #jsonSchema(String, int)}. */
    public static Grammar jsonSchema(JsonNode schema, int maxSpace) {
        return jsonSchema(JsonSchema.bounded(Objects.requireNonNull(schema, "schema")), space(maxSpace));
    }

    private static Grammar jsonSchema(JsonNode schema, Regex space) {
        return GrammarWork.reading(() -> SchemaGrammar.of(schema, space));
    }

    private static Regex space(int max) {
        BadInput.require(max >= 0, "the maximum white space", max, "at least 0");
        return JsonText.space(max);
    }

    /**
     * Parses the text of a schema, with exact numbers.
     *
     * @throws BadInput if it is not JSON or too long
     */
    public static JsonNode parseSchema(String schema) {
        return JsonSchema.parse(Objects.requireNonNull(schema, "schema"));
    }

    /**
     * Returns where a schema has keywords that JSON Schema does not have, such as misspelled ones. They have no effect.
     *
     * @return JSON pointers, such as {@code /properties/name/nullable}
     */
    public static List<String> unknownKeywords(JsonNode schema) {
        return List.copyOf(new SchemaDocument(Objects.requireNonNull(schema, "schema")).unknownKeywords());
    }

    /** Returns the grammar of all JSON objects. */
    public static Grammar jsonObject() {
        return jsonSchema("{\"type\":\"object\"}");
    }

    /**
     * Returns the grammar of a text in llama.cpp's GBNF; its start rule is {@code root}.
     *
     * @throws BadInput if the text is malformed, too large or not supported, a rule is not defined, or the grammar has no
     *     text
     */
    public static Grammar gbnf(String text) {
        Objects.requireNonNull(text, "text");
        return GrammarWork.reading(() -> withText(GbnfParser.parse(text)));
    }

    /**
     * Returns the grammar of a text in llguidance's subset of Lark; its start rule is {@code start}.
     *
     * @throws BadInput if the text is malformed, too large or not supported, a rule is not defined, or the grammar has no
     *     text
     */
    public static Grammar lark(String text) {
        Objects.requireNonNull(text, "text");
        return GrammarWork.reading(() -> withText(LarkParser.parse(text)));
    }

    /**
     * Returns the grammar of texts that end their first {@code trigger} and go on with a text of this grammar; for
     * example, JSON after {@code </think>}. Before the trigger any text is allowed, but no special token.
     *
     * @throws BadInput if the trigger is empty or has an unpaired surrogate
     */
    public Grammar after(String trigger) {
        Objects.requireNonNull(trigger, "trigger");
        BadInput.require(!trigger.isEmpty(), "the number of characters of a trigger", 0, "at least 1");
        BadInput.require(
                Utf16.unpairedSurrogate(trigger) < 0, "a trigger", Quoted.name(trigger), "without unpaired surrogates");
        Regex literal = Regex.literal(trigger);
        Regex before = Regex.not(Regex.concat(Regex.ANY_TEXT, literal, Regex.ANY_TEXT));
        String name = start + " after a trigger";
        Map<String, Expression> extended = new LinkedHashMap<>(rules);
        extended.put(
                name,
                Expression.sequence(Expression.terminal(Regex.concat(before, literal)), Expression.reference(start)));
        return new Grammar(name, extended);
    }

    /**
     * Returns the grammar of a text in GBNF or Lark, like vLLM: GBNF if a line has {@code ::=} outside comments.
     *
     * @throws BadInput like {@link #gbnf} and {@link #lark}
     */
    public static Grammar ebnf(String text) {
        Objects.requireNonNull(text, "text");
        boolean isGbnf =
                text.lines().anyMatch(line -> line.replaceFirst("(#|//).*", "").contains("::="));
        return isGbnf ? gbnf(text) : lark(text);
    }

    private static Grammar withText(Grammar grammar) {
        if (GrammarCleaner.cleaned(grammar.start, grammar.rules) == null) {
            throw new BadInput("the grammar allows no text: a rule refers to itself without an end, or an expression"
                    + " matches nothing");
        }
        return grammar;
    }

    private static void requireDefined(Expression expression, Map<String, Expression> rules) {
        switch (expression) {
            case Expression.Terminal _, Expression.TokenReference _ -> {}
            case Expression.Sequence(var parts) -> parts.forEach(part -> requireDefined(part, rules));
            case Expression.Choice(var alternatives) -> alternatives.forEach(part -> requireDefined(part, rules));
            case Expression.Repeat(var operand, int _, int _) -> requireDefined(operand, rules);
            case Expression.Reference(String rule) -> requireDefined(rule, rules);
        }
    }

    private static void requireDefined(String rule, Map<String, Expression> rules) {
        if (!rules.containsKey(rule)) {
            throw new BadInput("the grammar's rule " + Quoted.name(rule) + " is not defined");
        }
    }
}
