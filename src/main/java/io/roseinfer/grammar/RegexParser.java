package io.roseinfer.grammar;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads regular expressions of ECMA-262 with the flag {@code u}, as JSON Schema's {@code pattern} uses them.
 *
 * <p>Supported: classes, {@code \d \w \s \p{..}}, quantifiers, groups, {@code ^} and {@code $}, and lookahead outside
 * repetitions. Backreferences, lookbehind and word boundaries are rejected by name. Lazy quantifiers describe the same
 * language as greedy ones.
 */
final class RegexParser {
    private static final CodePointSet LINE_ENDS = CodePointSet.of("\n\r\u2028\u2029");
    private static final CodePointSet DIGITS = CodePointSet.range('0', '9');
    private static final CodePointSet WORD = CodePointSet.ofRanges('a', 'z', 'A', 'Z', '0', '9', '_', '_');
    private static final CodePointSet SPACE = CodePointSet.of(
                    "\t\n\u000B\f\r \u00A0\u1680\u2028\u2029\u202F\u205F\u3000\uFEFF")
            .union(CodePointSet.range(0x2000, 0x200A));

    private final String pattern;
    private final String flags;
    private int at;
    private int nesting;
    private int nodes;

    private RegexParser(String pattern, String flags) {
        this.pattern = pattern;
        this.flags = flags;
    }

    /**
     * Returns the texts in which the pattern is found.
     *
     * @throws BadInput if the pattern is malformed, unsupported or too large
     */
    static Regex search(String pattern) {
        Node node = new RegexParser(pattern, "").parse();
        Node whole = sequence(List.of(new Plain(Regex.ANY_TEXT), node, new Plain(Regex.ANY_TEXT)));
        return language(whole, Regex.EMPTY, pattern);
    }

    /**
     * Returns the texts that match the pattern from start to end.
     *
     * @param flags letters of the flags that apply: {@code i} ignores case, {@code s} lets a point match line ends
     * @throws BadInput if the pattern is malformed, unsupported or too large
     */
    static Regex match(String pattern, String flags) {
        return language(new RegexParser(pattern, flags).parse(), Regex.EMPTY, pattern);
    }

    /** Returns the texts that match the pattern from start to end. */
    static Regex match(String pattern) {
        return match(pattern, "");
    }

    // --- from syntax to language ------------------------------------------------------------------------------------

    /** A parsed expression; everything without assertions is {@link Plain}. */
    private sealed interface Node {}

    private record Plain(Regex regex) implements Node {}

    private record Sequence(List<Node> parts) implements Node {}

    private record Alternatives(List<Node> nodes) implements Node {}

    private record Optional(Node node) implements Node {}

    private record Start() implements Node {}

    private record End() implements Node {}

    private record Lookahead(Node node, boolean negative) implements Node {}

    /**
     * The rest of a text after a position.
     *
     * @param atStart the texts that follow if the position is the start of the text
     * @param later the texts that follow at any other position
     */
    private record Rest(Regex atStart, Regex later) {}

    private static Regex language(Node node, Regex end, String pattern) {
        Regex language = before(node, new Rest(end, end)).atStart;
        GrammarSize.require(
                sizeOf(language, GrammarSize.REGEX_NODES) <= GrammarSize.REGEX_NODES,
                "the size of pattern " + Quoted.name(pattern),
                "over " + GrammarSize.REGEX_NODES + " nodes",
                "at most that");
        return language;
    }

    /** Returns what a node and then the rest can be. */
    private static Rest before(Node node, Rest rest) {
        return switch (node) {
            case Plain(Regex regex) -> beforePlain(regex, rest);
            case Sequence(List<Node> parts) -> {
                Rest result = rest;
                for (Node part : parts.reversed()) {
                    result = before(part, result);
                }
                yield result;
            }
            case Alternatives(List<Node> nodes) -> {
                List<Regex> atStart = new ArrayList<>();
                List<Regex> later = new ArrayList<>();
                for (Node alternative : nodes) {
                    Rest one = before(alternative, rest);
                    atStart.add(one.atStart);
                    later.add(one.later);
                }
                yield bounded(Regex.or(atStart), Regex.or(later));
            }
            case Optional(Node operand) -> {
                Rest one = before(operand, rest);
                yield bounded(Regex.or(one.atStart, rest.atStart), Regex.or(one.later, rest.later));
            }
            case Start() -> new Rest(rest.atStart, Regex.NONE);
            case End() -> new Rest(emptyOf(rest.atStart), emptyOf(rest.later));
            case Lookahead(Node operand, boolean negative) -> {
                Rest seen = before(operand, new Rest(Regex.ANY_TEXT, Regex.ANY_TEXT));
                yield new Rest(
                        Regex.and(rest.atStart, negative ? Regex.not(seen.atStart) : seen.atStart),
                        Regex.and(rest.later, negative ? Regex.not(seen.later) : seen.later));
            }
        };
    }

    /** Returns the rest of a text; alternatives with assertions copy what follows them, so sizes can double. */
    private static Rest bounded(Regex atStart, Regex later) {
        int size = sizeOf(later, GrammarSize.REGEX_NODES);
        GrammarSize.require(
                size <= GrammarSize.REGEX_NODES && sizeOf(atStart, GrammarSize.REGEX_NODES) <= GrammarSize.REGEX_NODES,
                "the size of a pattern",
                "over " + GrammarSize.REGEX_NODES + " nodes",
                "at most that");
        return new Rest(atStart, later);
    }

    private static Rest beforePlain(Regex regex, Rest rest) {
        Regex later = Regex.concat(regex, rest.later);
        if (!isNullable(regex) || rest.atStart.equals(rest.later)) {
            return new Rest(later, later);
        }
        return new Rest(Regex.or(Regex.concat(withoutEmpty(regex), rest.later), rest.atStart), later);
    }

    private static Regex emptyOf(Regex regex) {
        return isNullable(regex) ? Regex.EMPTY : Regex.NONE;
    }

    /** Returns whether the empty text is in a language. */
    static boolean isNullable(Regex regex) {
        return switch (regex) {
            case Regex.Empty() -> true;
            case Regex.None(), Regex.Chars(var _) -> false;
            case Regex.Literal(String text) -> text.isEmpty();
            case Regex.Concat(var parts) -> parts.stream().allMatch(RegexParser::isNullable);
            case Regex.Or(var alternatives) -> alternatives.stream().anyMatch(RegexParser::isNullable);
            case Regex.And(var operands) -> operands.stream().allMatch(RegexParser::isNullable);
            case Regex.Not(var operand) -> !isNullable(operand);
            case Regex.Repeat(var operand, int min, int _) -> min == 0 || isNullable(operand);
        };
    }

    private static Regex withoutEmpty(Regex regex) {
        return switch (regex) {
            case Regex.Repeat(var operand, int _, int max) when !isNullable(operand) -> Regex.repeat(operand, 1, max);
            case Regex.Or(var alternatives) ->
                Regex.or(alternatives.stream().map(RegexParser::withoutEmpty).toList());
            case Regex.Empty() -> Regex.NONE;
            default -> isNullable(regex) ? Regex.and(regex, Regex.not(Regex.EMPTY)) : regex;
        };
    }

    /** Returns the number of nodes, or a number above the limit. */
    static int sizeOf(Regex regex, int limit) {
        if (limit < 0) {
            return 1;
        }
        return switch (regex) {
            case Regex.Empty(), Regex.None(), Regex.Chars(var _), Regex.Literal(var _) -> 1;
            case Regex.Concat(var parts) -> sizeOf(parts, limit);
            case Regex.Or(var alternatives) -> sizeOf(alternatives, limit);
            case Regex.And(var operands) -> sizeOf(operands, limit);
            case Regex.Not(var operand) -> 1 + sizeOf(operand, limit - 1);
            case Regex.Repeat(var operand, int _, int _) -> 1 + sizeOf(operand, limit - 1);
        };
    }

    private static int sizeOf(List<Regex> parts, int limit) {
        int size = 1;
        for (Regex part : parts) {
            if (size > limit) {
                return size;
            }
            size += sizeOf(part, limit - size);
        }
        return size;
    }

    // --- construction -----------------------------------------------------------------------------------------------

    private static Node sequence(List<Node> parts) {
        List<Node> merged = new ArrayList<>();
        List<Regex> run = new ArrayList<>();
        for (Node part : parts) {
            for (Node one : part instanceof Sequence(List<Node> inner) ? inner : List.of(part)) {
                if (one instanceof Plain(Regex regex)) {
                    run.add(regex);
                } else {
                    addJoined(run, merged);
                    merged.add(one);
                }
            }
        }
        addJoined(run, merged);
        return merged.size() == 1 ? merged.getFirst() : new Sequence(List.copyOf(merged));
    }

    /** Moves a run of languages to a sequence as one, in linear time; adjacent texts become one. */
    private static void addJoined(List<Regex> run, List<Node> sequence) {
        if (run.isEmpty()) {
            return;
        }
        List<Regex> parts = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        for (Regex one : run) {
            for (Regex part : one instanceof Regex.Concat(List<Regex> inner) ? inner : List.of(one)) {
                if (part instanceof Regex.Literal(String more)) {
                    text.append(more);
                } else if (!(part instanceof Regex.Empty)) {
                    parts.add(Regex.literal(text.toString()));
                    parts.add(part);
                    text.setLength(0);
                }
            }
        }
        parts.add(Regex.literal(text.toString()));
        sequence.add(new Plain(Regex.concat(parts)));
        run.clear();
    }

    private static Node alternatives(List<Node> nodes) {
        if (nodes.stream().allMatch(Plain.class::isInstance)) {
            return new Plain(
                    Regex.or(nodes.stream().map(node -> ((Plain) node).regex).toList()));
        }
        return new Alternatives(List.copyOf(nodes));
    }

    private Node repeat(Node node, int min, int max) {
        if (node instanceof Plain(Regex regex)) {
            return new Plain(Regex.repeat(regex, min, max));
        }
        if (min == 1 && max == 1) {
            return node;
        }
        if (max == 0) {
            return new Plain(Regex.EMPTY);
        }
        if (min == 0 && max == 1) {
            return new Optional(node);
        }
        // An assertion alone has no width: once or not at all is enough.
        if (node instanceof Start || node instanceof End || node instanceof Lookahead) {
            return min == 0 ? new Plain(Regex.EMPTY) : node;
        }
        if (max > 16) {
            throw unsupported("an assertion (^, $ or lookahead) in a repetition");
        }
        List<Node> parts = new ArrayList<>();
        for (int i = 0; i < max; i++) {
            parts.add(i < min ? node : new Optional(node));
        }
        return sequence(parts);
    }

    // --- syntax -----------------------------------------------------------------------------------------------------

    private Node parse() {
        GrammarSize.require(
                pattern.length() <= GrammarSize.PATTERN_CHARS,
                "the length of a pattern",
                pattern.length(),
                "at most " + GrammarSize.PATTERN_CHARS);
        Node node = disjunction();
        if (at < pattern.length()) {
            throw malformed("')' has no '('");
        }
        return node;
    }

    private Node disjunction() {
        GrammarSize.require(
                ++nesting <= GrammarSize.NESTING,
                "the nesting of a pattern's groups",
                nesting,
                "at most " + GrammarSize.NESTING);
        List<Node> alternatives = new ArrayList<>();
        do {
            List<Node> parts = new ArrayList<>();
            while (at < pattern.length() && peek() != '|' && peek() != ')') {
                parts.add(quantified(term()));
                GrammarSize.require(
                        ++nodes <= GrammarSize.REGEX_NODES,
                        "the size of a pattern",
                        nodes,
                        "at most " + GrammarSize.REGEX_NODES);
            }
            alternatives.add(parts.isEmpty() ? new Plain(Regex.EMPTY) : sequence(parts));
        } while (accept("|"));
        nesting--;
        return alternatives(alternatives);
    }

    private Node term() {
        int start = at;
        int c = next();
        return switch (c) {
            case '^' -> new Start();
            case '$' -> new End();
            case '(' -> group();
            case '.' -> chars(flags.contains("s") ? CodePointSet.ALL : LINE_ENDS.complement());
            case '[' -> chars(characterClass());
            case '\\' -> escape();
            case '*', '+', '?' -> throw malformed("'" + (char) c + "' has nothing to repeat");
            case '{' -> {
                at = start;
                if (quantifier() != null) {
                    throw malformed("a quantifier has nothing to repeat");
                }
                at = start + 1;
                yield literal('{');
            }
            default -> literal(c);
        };
    }

    private Node literal(int codePoint) {
        if (codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE) {
            throw malformed("an unpaired surrogate matches no text");
        }
        if (flags.contains("i")) {
            CodePointSet cases = ignoringCase(CodePointSet.of(codePoint));
            if (!cases.equals(CodePointSet.of(codePoint))) {
                return chars(cases);
            }
        }
        return new Plain(Regex.literal(Character.toString(codePoint)));
    }

    private Node chars(CodePointSet set) {
        return new Plain(Regex.chars(flags.contains("i") ? ignoringCase(set) : set));
    }

    private static CodePointSet ignoringCase(CodePointSet set) {
        List<Integer> pairs = new ArrayList<>();
        for (int range = 0; range < set.rangeCount(); range++) {
            for (int c = set.first(range); c <= set.last(range) && c < 0x20000; c++) {
                for (int other : new int[] {Character.toLowerCase(c), Character.toUpperCase(c)}) {
                    if (other != c) {
                        pairs.add(other);
                        pairs.add(other);
                    }
                }
            }
        }
        return set.union(
                CodePointSet.ofRanges(pairs.stream().mapToInt(Integer::intValue).toArray()));
    }

    private Node group() {
        if (accept("?")) {
            if (accept("=")) {
                return closed(new Lookahead(disjunction(), false));
            }
            if (accept("!")) {
                return closed(new Lookahead(disjunction(), true));
            }
            if (pattern.startsWith("<=", at) || pattern.startsWith("<!", at)) {
                throw unsupported("lookbehind (?" + pattern.substring(at, at + 2) + "...)");
            }
            if (accept("<")) {
                int end = pattern.indexOf('>', at);
                if (end < 0) {
                    throw malformed("a group's name has no '>'");
                }
                at = end + 1;
            } else if (accept("s:")) {
                return flagged("s");
            } else if (accept("i:")) {
                return flagged("i");
            } else if (!accept(":")) {
                throw unsupported("the group (?" + pattern.substring(at, Math.min(pattern.length(), at + 2)) + "...)");
            }
        }
        return closed(disjunction());
    }

    private Node flagged(String flag) {
        RegexParser inner = new RegexParser(pattern, flags + flag);
        inner.at = at;
        inner.nesting = nesting;
        Node node = inner.disjunction();
        at = inner.at;
        return closed(node);
    }

    private Node closed(Node node) {
        if (!accept(")")) {
            throw malformed("'(' has no ')'");
        }
        return node;
    }

    private Node quantified(Node node) {
        int[] range = quantifier();
        if (range == null) {
            return node;
        }
        accept("?");
        if (at < pattern.length() && (peek() == '*' || peek() == '+' || peek() == '?')) {
            throw malformed("a quantifier follows a quantifier");
        }
        return repeat(node, range[0], range[1]);
    }

    /** Reads a quantifier if there is one; returns its minimum and maximum. */
    private int @Nullable [] quantifier() {
        if (accept("*")) {
            return new int[] {0, Regex.Repeat.UNBOUNDED};
        }
        if (accept("+")) {
            return new int[] {1, Regex.Repeat.UNBOUNDED};
        }
        if (accept("?")) {
            return new int[] {0, 1};
        }
        int start = at;
        if (!accept("{")) {
            return null;
        }
        int min = number();
        int max = min;
        if (min >= 0 && accept(",")) {
            max = pattern.startsWith("}", at) ? Regex.Repeat.UNBOUNDED : number();
        }
        if (min < 0 || max < 0 || !accept("}")) {
            at = start;
            return null;
        }
        if (min > max) {
            throw malformed("quantifier {" + min + "," + max + "} is not a range");
        }
        return new int[] {min, max};
    }

    /** Reads digits; returns -1 if there are none. */
    private int number() {
        int start = at;
        while (at < pattern.length() && peek() >= '0' && peek() <= '9') {
            at++;
        }
        if (start == at) {
            return -1;
        }
        GrammarSize.require(
                at - start <= 7 && Integer.parseInt(pattern.substring(start, at)) <= GrammarSize.REPETITIONS,
                "a quantifier's count",
                pattern.substring(start, at),
                "at most " + GrammarSize.REPETITIONS);
        return Integer.parseInt(pattern.substring(start, at));
    }

    private Node escape() {
        if (at == pattern.length()) {
            throw malformed("it ends with a backslash");
        }
        int c = peek();
        if (c == 'b' || c == 'B') {
            throw unsupported("word boundary \\" + (char) c);
        }
        if ((c >= '1' && c <= '9') || c == 'k') {
            throw unsupported("backreference \\" + (char) c);
        }
        CodePointSet set = escapedClass();
        return set != null ? chars(set) : literal(escapedCharacter());
    }

    private @Nullable CodePointSet escapedClass() {
        int start = at;
        int c = next();
        return switch (c) {
            case 'd' -> DIGITS;
            case 'D' -> DIGITS.complement();
            case 'w' -> WORD;
            case 'W' -> WORD.complement();
            case 's' -> SPACE;
            case 'S' -> SPACE.complement();
            case 'p' -> property();
            case 'P' -> property().complement();
            default -> {
                at = start;
                yield null;
            }
        };
    }

    private CodePointSet property() {
        int end = pattern.indexOf('}', at);
        if (!accept("{") || end < 0) {
            throw malformed("\\p needs a property in braces");
        }
        String property = pattern.substring(at, end);
        at = end + 1;
        CodePointSet set = UnicodeProperties.of(property);
        if (set == null) {
            throw unsupported("property \\p{" + property + "}");
        }
        return set;
    }

    private int escapedCharacter() {
        int c = next();
        return switch (c) {
            case 't' -> '\t';
            case 'n' -> '\n';
            case 'v' -> 0x0B;
            case 'f' -> '\f';
            case 'r' -> '\r';
            case 'c' -> controlLetter();
            case '0' -> {
                if (at < pattern.length() && peek() >= '0' && peek() <= '9') {
                    throw unsupported("octal escape \\0" + (char) peek());
                }
                yield 0;
            }
            case 'x' -> hex(2);
            case 'u' -> unicodeEscape();
            default -> {
                if (c < 128 && Character.isLetterOrDigit(c)) {
                    throw unsupported("escape \\" + (char) c);
                }
                yield c;
            }
        };
    }

    private int controlLetter() {
        int letter = at < pattern.length() ? next() : -1;
        if (letter >= 128 || !Character.isLetter(letter)) {
            throw malformed("\\c needs a letter");
        }
        return letter % 32;
    }

    private int unicodeEscape() {
        if (accept("{")) {
            int end = pattern.indexOf('}', at);
            if (end < 0 || end == at || end - at > 6) {
                throw malformed("\\u{ needs 1 to 6 hexadecimal digits and '}'");
            }
            int codePoint = hex(end - at);
            at = end + 1;
            if (codePoint > Character.MAX_CODE_POINT) {
                throw malformed("\\u{" + Integer.toHexString(codePoint) + "} is above 10ffff");
            }
            return codePoint;
        }
        int first = hex(4);
        if (Character.isHighSurrogate((char) first)
                && pattern.startsWith("\\u", at)
                && !pattern.startsWith("{", at + 2)) {
            int start = at;
            at += 2;
            int second = hex(4);
            if (Character.isLowSurrogate((char) second)) {
                return Character.toCodePoint((char) first, (char) second);
            }
            at = start;
        }
        return first;
    }

    private int hex(int digits) {
        int value = 0;
        for (int i = 0; i < digits; i++) {
            int digit = at < pattern.length() ? Character.digit(pattern.charAt(at), 16) : -1;
            if (digit < 0 || pattern.charAt(at) > 'f') {
                throw malformed("an escape needs " + digits + " hexadecimal digits");
            }
            value = value * 16 + digit;
            at++;
        }
        return value;
    }

    private CodePointSet characterClass() {
        boolean negated = accept("^");
        CodePointSet set = CodePointSet.NONE;
        while (!accept("]")) {
            if (at == pattern.length()) {
                throw malformed("'[' has no ']'");
            }
            CodePointSet first = classAtom();
            if (pattern.startsWith("-", at) && !pattern.startsWith("-]", at)) {
                at++;
                if (at == pattern.length()) {
                    throw malformed("'[' has no ']'");
                }
                CodePointSet last = classAtom();
                if (isSingle(first) && isSingle(last)) {
                    if (first.first(0) > last.first(0)) {
                        throw malformed("a range of a class is in descending order");
                    }
                    set = set.union(CodePointSet.range(first.first(0), last.first(0)));
                } else {
                    set = set.union(first).union(last).union(CodePointSet.of('-'));
                }
            } else {
                set = set.union(first);
            }
        }
        if (flags.contains("i")) {
            set = ignoringCase(set);
        }
        return negated ? set.complement() : set;
    }

    private static boolean isSingle(CodePointSet set) {
        return set.rangeCount() == 1 && set.first(0) == set.last(0);
    }

    private CodePointSet classAtom() {
        int c = next();
        if (c != '\\') {
            return CodePointSet.of(c);
        }
        if (at == pattern.length()) {
            throw malformed("it ends with a backslash");
        }
        if (accept("b")) {
            return CodePointSet.of('\b');
        }
        CodePointSet set = escapedClass();
        return set != null ? set : CodePointSet.of(escapedCharacter());
    }

    private int peek() {
        return pattern.codePointAt(at);
    }

    private int next() {
        int codePoint = pattern.codePointAt(at);
        at += Character.charCount(codePoint);
        return codePoint;
    }

    private boolean accept(String text) {
        if (!pattern.startsWith(text, at)) {
            return false;
        }
        at += text.length();
        return true;
    }

    private BadInput malformed(String reason) {
        return new BadInput("pattern " + Quoted.name(pattern) + " is malformed near index " + at + ": " + reason);
    }

    private BadInput unsupported(String feature) {
        return new BadInput("pattern " + Quoted.name(pattern) + ": " + feature + " is not supported");
    }
}
