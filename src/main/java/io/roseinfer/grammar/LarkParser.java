package io.roseinfer.grammar;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads the subset of Lark that llguidance has: rules, terminals (upper case), strings, regular expressions, ranges,
 * {@code %ignore}, {@code %import common}, {@code %json}, special tokens {@code <|eot|>}, and {@code &} and
 * {@code ~} in terminals.
 *
 * <p>Priorities, templates and attributes such as {@code [lazy]} are rejected by name. Where terminals overlap, every
 * division of a text into terminals is valid, not only the one with the longest.
 */
final class LarkParser {
    /** A parsed right side; its meaning differs between rules and terminals. */
    private sealed interface Node {}

    private record Plain(Regex regex) implements Node {}

    private record Name(String name) implements Node {}

    private record Token(String name) implements Node {}

    private record Json(String start) implements Node {}

    private record Sequence(List<Node> parts) implements Node {}

    private record Choice(List<Node> alternatives) implements Node {}

    private record Both(List<Node> operands) implements Node {}

    private record Not(Node operand) implements Node {}

    private record Repeat(Node operand, int min, int max) implements Node {}

    private static final Map<String, String> COMMON = Map.ofEntries(
            Map.entry("DIGIT", "[0-9]"),
            Map.entry("HEXDIGIT", "[0-9a-fA-F]"),
            Map.entry("INT", "[0-9]+"),
            Map.entry("SIGNED_INT", "[+-]?[0-9]+"),
            Map.entry("DECIMAL", "[0-9]+\\.[0-9]*|\\.[0-9]+"),
            Map.entry("FLOAT", "[0-9]+[eE][+-]?[0-9]+|([0-9]+\\.[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?"),
            Map.entry("SIGNED_FLOAT", "[+-]?([0-9]+[eE][+-]?[0-9]+|([0-9]+\\.[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?)"),
            Map.entry("NUMBER", "[0-9]+([eE][+-]?[0-9]+)?|([0-9]+\\.[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?"),
            Map.entry("SIGNED_NUMBER", "[+-]?([0-9]+([eE][+-]?[0-9]+)?|([0-9]+\\.[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?)"),
            Map.entry("ESCAPED_STRING", "\"([^\"\\\\\\n]|\\\\.)*\""),
            Map.entry("LCASE_LETTER", "[a-z]"),
            Map.entry("UCASE_LETTER", "[A-Z]"),
            Map.entry("LETTER", "[a-zA-Z]"),
            Map.entry("WORD", "[a-zA-Z]+"),
            Map.entry("CNAME", "[_a-zA-Z][_a-zA-Z0-9]*"),
            Map.entry("WS_INLINE", "[ \\t]+"),
            Map.entry("WS", "[ \\t\\f\\r\\n]+"),
            Map.entry("CR", "\\r"),
            Map.entry("LF", "\\n"),
            Map.entry("NEWLINE", "(\\r?\\n)+"),
            Map.entry("SH_COMMENT", "#[^\\n]*"),
            Map.entry("CPP_COMMENT", "//[^\\n]*"));

    private final GrammarText text;
    private final Map<String, Node> rules = new LinkedHashMap<>();
    private final Map<String, Node> terminals = new LinkedHashMap<>();
    private final List<Node> ignored = new ArrayList<>();
    private final Map<String, Expression> schemas = new LinkedHashMap<>();
    private final Map<String, Regex> regexes = new HashMap<>();
    private final Set<String> open = new HashSet<>();
    private int nesting;

    private LarkParser(String text) {
        this.text = new GrammarText("Lark", text);
    }

    /**
     * Returns the grammar of a text; its start rule is {@code start}.
     *
     * @throws BadInput if the text is malformed, unsupported or too large, or a rule is not defined
     */
    static Grammar parse(String text) {
        LarkParser parser = new LarkParser(text);
        parser.readStatements();
        return parser.grammar();
    }

    // --- meaning ----------------------------------------------------------------------------------------------------

    private Grammar grammar() {
        if (!rules.containsKey("start")) {
            throw new BadInput("the Lark grammar has no rule start");
        }
        Regex space = Regex.star(Regex.or(ignored.stream().map(this::regex).toList()));
        Map<String, Expression> result = new LinkedHashMap<>();
        rules.forEach((name, right) -> result.put(name, expression(right, space)));
        if (!space.equals(Regex.EMPTY)) {
            result.put(
                    "start with ignored",
                    Expression.sequence(Expression.terminal(space), Expression.reference("start")));
        }
        result.putAll(schemas);
        String start = space.equals(Regex.EMPTY) ? "start" : "start with ignored";
        return new Grammar(start, TerminalMerger.merged(result));
    }

    private Expression expression(Node node, Regex space) {
        return switch (node) {
            case Plain(Regex regex) -> Expression.terminal(Regex.concat(regex, space));
            case Name(String name) ->
                isTerminal(name)
                        ? Expression.terminal(Regex.concat(terminal(name), space))
                        : Expression.reference(name);
            case Token(String name) ->
                Expression.sequence(new Expression.TokenReference(name), Expression.terminal(space));
            case Json(String start) -> Expression.sequence(Expression.reference(start), Expression.terminal(space));
            case Sequence(var parts) ->
                Expression.sequence(
                        parts.stream().map(part -> expression(part, space)).toList());
            case Choice(var alternatives) ->
                Expression.choice(alternatives.stream()
                        .map(part -> expression(part, space))
                        .toList());
            case Repeat(var operand, int min, int max) -> Expression.repeat(expression(operand, space), min, max);
            case Both _, Not _ -> throw new BadInput("the Lark grammar has & or ~ in a rule; only terminals may");
        };
    }

    private static boolean isTerminal(String name) {
        return name.equals(name.toUpperCase(Locale.ROOT));
    }

    private Regex terminal(String name) {
        Regex known = regexes.get(name);
        if (known != null) {
            return known;
        }
        Node right = terminals.get(name);
        if (right == null) {
            throw new BadInput("the Lark grammar's terminal " + Quoted.name(name) + " is not defined");
        }
        if (!open.add(name)) {
            throw new BadInput("the Lark grammar's terminal " + Quoted.name(name)
                    + " refers to itself; only rules (lower case) may");
        }
        Regex regex = regex(right);
        GrammarSize.require(
                RegexParser.sizeOf(regex, GrammarSize.REGEX_NODES) <= GrammarSize.REGEX_NODES,
                "the size of terminal " + Quoted.name(name),
                "over " + GrammarSize.REGEX_NODES + " nodes",
                "at most that");
        open.remove(name);
        regexes.put(name, regex);
        return regex;
    }

    private Regex regex(Node node) {
        return switch (node) {
            case Plain(Regex regex) -> regex;
            case Name(String name) -> {
                if (!isTerminal(name)) {
                    throw new BadInput("the Lark grammar refers to rule " + Quoted.name(name) + " in a terminal");
                }
                yield terminal(name);
            }
            case Token(String name) ->
                throw new BadInput("the Lark grammar has special token " + Quoted.name(name) + " in a terminal");
            case Json _ -> throw new BadInput("the Lark grammar has %json in a terminal; only rules may");
            case Sequence(var parts) ->
                Regex.concat(parts.stream().map(this::regex).toList());
            case Choice(var alternatives) ->
                Regex.or(alternatives.stream().map(this::regex).toList());
            case Both(var operands) ->
                Regex.and(operands.stream().map(this::regex).toList());
            case Not(var operand) -> Regex.not(regex(operand));
            case Repeat(var operand, int min, int max) -> Regex.repeat(regex(operand), min, max);
        };
    }

    // --- syntax -----------------------------------------------------------------------------------------------------

    private void skip(boolean newlines) {
        int start;
        do {
            start = text.position();
            text.skipSpace(newlines, "//");
            text.skipSpace(newlines, "#");
        } while (text.position() > start);
    }

    private void readStatements() {
        for (skip(true); !text.isAtEnd(); skip(true)) {
            if (text.accept("%")) {
                directive();
            } else {
                definition();
            }
        }
    }

    private void directive() {
        String name = text.name("_");
        skip(false);
        switch (name) {
            case "ignore" -> ignored.add(alternatives(false));
            case "import" -> imported();
            case "llguidance" -> {
                String options = json();
                if (!JsonSchema.parse(options).isEmpty()) {
                    throw text.malformed("options of %llguidance are not supported");
                }
            }
            default -> throw text.malformed("%" + Quoted.value(name) + " is not supported");
        }
    }

    private void imported() {
        if (!text.accept("common")) {
            throw text.malformed("only %import common is supported");
        }
        if (!text.accept(".")) {
            skip(false);
        }
        if (text.accept("(")) {
            do {
                skip(true);
                String name = text.name("_");
                define(terminals, name, common(name));
                skip(true);
            } while (text.accept(","));
            text.expect(")");
            return;
        }
        String name = text.name("_");
        skip(false);
        String as = name;
        if (text.accept("->")) {
            skip(false);
            as = text.name("_-");
        }
        define(terminals, as, common(name));
    }

    private Node common(String name) {
        String pattern = COMMON.get(name);
        if (pattern == null) {
            throw text.malformed("common." + Quoted.value(name) + " is not supported");
        }
        return new Plain(RegexParser.match(pattern));
    }

    private void define(Map<String, Node> names, String name, Node right) {
        if (names.put(name, right) != null) {
            throw text.malformed(Quoted.name(name) + " is defined twice");
        }
    }

    private void definition() {
        if (!text.accept("?")) {
            text.accept("!"); // Both shape Lark's trees only.
        }
        String name = text.name("_-");
        if (name.isEmpty()) {
            throw text.malformed("a rule's or terminal's name is expected");
        }
        if (text.startsWith("[")) {
            throw text.malformed("attributes of a rule, such as [lazy], are not supported");
        }
        if (text.startsWith("{") || text.startsWith("::")) {
            throw text.malformed("templates and parameters are not supported");
        }
        if (text.startsWith(".")) {
            throw text.malformed("priorities are not supported");
        }
        skip(false);
        text.expect(":");
        Node right = alternatives(false);
        define(isTerminal(name) ? terminals : rules, name, right);
    }

    private Node alternatives(boolean grouped) {
        GrammarSize.require(
                ++nesting <= GrammarSize.NESTING,
                "the nesting of a grammar",
                nesting,
                "at most " + GrammarSize.NESTING);
        Node node = separated("|", () -> separated("&", () -> sequence(grouped), Both::new), Choice::new);
        nesting--;
        return node;
    }

    private interface Combination {
        Node of(List<Node> operands);
    }

    private Node separated(String operator, Supplier<Node> operand, Combination combination) {
        List<Node> operands = new ArrayList<>();
        do {
            skip(true);
            operands.add(operand.get());
        } while (text.accept(operator));
        return operands.size() == 1 ? operands.getFirst() : combination.of(operands);
    }

    private Node sequence(boolean grouped) {
        List<Node> parts = new ArrayList<>();
        while (true) {
            skip(grouped);
            if (text.accept("->")) {
                skip(false);
                text.name("_-");
                continue;
            }
            int c = text.peek();
            if (c == -1 || c == '|' || c == '&' || c == ')' || c == ']') {
                break;
            }
            if (c == '\n' || c == '\r') {
                if (continues()) {
                    continue;
                }
                break;
            }
            parts.add(repeated());
        }
        return parts.size() == 1 ? parts.getFirst() : new Sequence(parts);
    }

    /** Moves to an operator, {@code |} or {@code &}, that begins the next line, if one does. */
    private boolean continues() {
        int start = text.position();
        skip(true);
        if (text.startsWith("|") || text.startsWith("&")) {
            return true;
        }
        text.moveTo(start);
        return false;
    }

    private Node repeated() {
        Node node = atom();
        while (true) {
            int[] range = text.repetition();
            if (range == null) {
                int start = text.position();
                skip(false);
                range = text.accept("~") ? counted() : null;
                if (range == null) {
                    text.moveTo(start);
                    return node;
                }
            }
            node = new Repeat(node, range[0], range[1]);
        }
    }

    /** Reads Lark's {@code ~n} or {@code ~n..m} after the tilde; returns null if no number follows. */
    private int @Nullable [] counted() {
        skip(false);
        int min = text.number();
        if (min < 0) {
            return null;
        }
        return text.range(min, text.accept("..") ? text.number() : min);
    }

    private Node atom() {
        if (text.accept("~")) {
            skip(false);
            return new Not(atom());
        }
        if (text.accept("(")) {
            Node inner = alternatives(true);
            skip(true);
            text.expect(")");
            return inner;
        }
        if (text.accept("[")) {
            Node inner = alternatives(true);
            skip(true);
            text.expect("]");
            return new Repeat(inner, 0, 1);
        }
        if (text.startsWith("\"")) {
            return string();
        }
        if (text.accept("/")) {
            return new Plain(pattern());
        }
        if (text.startsWith("<")) {
            return token();
        }
        if (text.accept("%json")) {
            skip(true);
            return schema(json());
        }
        if (text.startsWith("%") || text.startsWith("@")) {
            throw text.malformed("%regex and references to other grammars are not supported");
        }
        String name = text.name("_-");
        if (name.isEmpty()) {
            throw text.malformed("'" + Character.toString(text.peek()) + "' begins no expression");
        }
        if (text.startsWith("{") && !text.rest().matches("(?s)\\{\\s*[0-9,].*")) {
            throw text.malformed("templates are not supported");
        }
        return new Name(name);
    }

    private Node string() {
        String first = text.literal(quoted());
        if (text.accept("..")) {
            String last = quoted();
            if (first.codePointCount(0, first.length()) != 1
                    || last.codePointCount(0, last.length()) != 1
                    || first.codePointAt(0) > last.codePointAt(0)) {
                throw text.malformed("a range needs two characters in ascending order");
            }
            return new Plain(Regex.chars(CodePointSet.range(first.codePointAt(0), last.codePointAt(0))));
        }
        if (!text.accept("i")) {
            return new Plain(Regex.literal(first));
        }
        StringBuilder pattern = new StringBuilder();
        first.codePoints().forEach(c -> pattern.append(String.format("\\u{%x}", c)));
        return new Plain(RegexParser.match(pattern.toString(), "i"));
    }

    private String quoted() {
        text.expect("\"");
        StringBuilder out = new StringBuilder();
        while (!text.accept("\"")) {
            int c = text.next();
            if (c == '\n') {
                throw text.malformed("a string ends with its line");
            }
            out.appendCodePoint(c == '\\' ? text.escape() : c);
        }
        return out.toString();
    }

    private Regex pattern() {
        int start = text.position();
        boolean inClass = false;
        while (inClass || text.peek() != '/') {
            int c = text.next();
            if (c == '\n') {
                throw text.malformed("a regular expression ends with its line");
            }
            if (c == '\\') {
                text.next();
            } else if (c == '[' || c == ']') {
                inClass = c == '[';
            }
        }
        String pattern = text.since(start);
        text.expect("/");
        String flags = text.name("");
        if (!flags.matches("[is]*")) {
            throw text.malformed("flags " + Quoted.value(flags) + " are not supported; i and s are");
        }
        return RegexParser.match(pattern, flags);
    }

    private Node token() {
        int start = text.position();
        while (text.peek() != '>') {
            if (text.next() == '\n') {
                throw text.malformed("a token has no '>'");
            }
        }
        text.expect(">");
        String name = text.since(start);
        if (name.startsWith("<[")) {
            throw text.malformed("a token by number is not supported; write its name");
        }
        return new Token(name);
    }

    /** Reads a JSON object. */
    private String json() {
        int start = text.position();
        if (text.peek() != '{') {
            throw text.malformed("a JSON object is expected");
        }
        int depth = 0;
        do {
            int c = text.next();
            if (c == '"') {
                while (text.peek() != '"') {
                    if (text.next() == '\\') {
                        text.next();
                    }
                }
                text.next();
            } else if (c == '{' || c == '[') {
                depth++;
            } else if (c == '}' || c == ']') {
                depth--;
            }
        } while (depth > 0);
        return text.since(start);
    }

    private Node schema(String json) {
        Grammar grammar = SchemaGrammar.of(JsonSchema.parse(json), JsonText.SPACE);
        String prefix = "json" + schemas.size() + " ";
        grammar.rules().forEach((name, right) -> schemas.put(prefix + name, renamed(right, prefix)));
        return new Json(prefix + grammar.start());
    }

    private static Expression renamed(Expression expression, String prefix) {
        return switch (expression) {
            case Expression.Terminal _, Expression.TokenReference _ -> expression;
            case Expression.Reference(String rule) -> Expression.reference(prefix + rule);
            case Expression.Sequence(var parts) ->
                Expression.sequence(
                        parts.stream().map(part -> renamed(part, prefix)).toList());
            case Expression.Choice(var alternatives) ->
                Expression.choice(
                        alternatives.stream().map(part -> renamed(part, prefix)).toList());
            case Expression.Repeat(var operand, int min, int max) ->
                Expression.repeat(renamed(operand, prefix), min, max);
        };
    }
}
