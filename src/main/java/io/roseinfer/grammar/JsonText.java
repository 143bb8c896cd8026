package io.roseinfer.grammar;

import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.TreeMap;

/** Regular languages of JSON's lexemes (RFC 8259). */
final class JsonText {
    /** Steps of work that one of several texts counts as. */
    private static final int TEXT_STEPS = 10;

    private static final CodePointSet CONTROL = CodePointSet.range(0, 0x1F);

    /** Code points that a string contains unescaped. */
    private static final CodePointSet PLAIN =
            CONTROL.union(CodePointSet.of("\"\\")).complement();

    private static final CodePointSet HEX = CodePointSet.ofRanges('0', '9', 'a', 'f', 'A', 'F');
    private static final CodePointSet HEX_BUT_D = HEX.minus(CodePointSet.of("dD"));

    /** One code point of a string, spelled in any way; a surrogate pair counts as one. */
    private static final Regex ANY_SPELLING = Regex.or(
            Regex.chars(PLAIN),
            Regex.concat(
                    Regex.literal("\\"),
                    Regex.or(
                            Regex.chars(CodePointSet.of("\"\\/bfnrt")),
                            Regex.concat(
                                    Regex.literal("u"),
                                    Regex.or(
                                            Regex.concat(Regex.chars(HEX_BUT_D), hex(3)),
                                            Regex.concat(
                                                    Regex.chars(CodePointSet.of("dD")),
                                                    Regex.or(
                                                            Regex.concat(
                                                                    Regex.chars(CodePointSet.range('0', '7')), hex(2)),
                                                            Regex.concat(
                                                                    Regex.chars(CodePointSet.of("89abAB")),
                                                                    hex(2),
                                                                    Regex.literal("\\u"),
                                                                    Regex.chars(CodePointSet.of("dD")),
                                                                    Regex.chars(CodePointSet.of("cdefCDEF")),
                                                                    hex(2)))))))));

    /** Any string. */
    static final Regex STRING = string(0, Regex.Repeat.UNBOUNDED);

    /** Any number, also with an exponent. */
    static final Regex NUMBER = RegexParser.match("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

    /** White space between two tokens, as in llama.cpp: enough for indented text, and without a waste of tokens. */
    static final Regex SPACE = RegexParser.match("( |\\n{1,2}[ \\t]{0,20})?");

    private final IdentityHashMap<Regex, Regex> encoded = new IdentityHashMap<>();

    private static Regex hex(int digits) {
        return Regex.repeat(Regex.chars(HEX), digits, digits);
    }

    /** Returns any white space of up to {@code cap} characters. */
    static Regex space(int cap) {
        return Regex.repeat(Regex.chars(CodePointSet.of(" \t\n\r")), 0, cap);
    }

    /** Returns strings of a length in code points, spelled in any way. */
    static Regex string(int min, int max) {
        return Regex.concat(Regex.literal("\""), Regex.repeat(ANY_SPELLING, min, max), Regex.literal("\""));
    }

    /** Returns the one spelling of a text: escaped only where JSON requires it. */
    static String quoted(String text) {
        StringBuilder out = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ' || c == '"' || c == '\\') {
                out.append(spelling(c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }

    private static String spelling(int codePoint) {
        return switch (codePoint) {
            case '"' -> "\\\"";
            case '\\' -> "\\\\";
            case '\b' -> "\\b";
            case '\f' -> "\\f";
            case '\n' -> "\\n";
            case '\r' -> "\\r";
            case '\t' -> "\\t";
            default -> codePoint < 0x20
                    ? "\\u00" + (codePoint >> 4) + Character.forDigit(codePoint & 0xF, 16)
                    : Character.toString(codePoint);
        };
    }

    /**
     * Returns the strings whose texts are in a language, each in one spelling. A language of all texts of some length
     * has every spelling.
     */
    Regex string(Regex texts) {
        if (texts instanceof Regex.Repeat(Regex.Chars(var set), int min, int max) && set.equals(CodePointSet.ALL)) {
            return string(min, max);
        }
        return Regex.concat(Regex.literal("\""), encode(texts), Regex.literal("\""));
    }

    /** Replaces each code point by its spelling; a bijection, so intersection and complement are kept. */
    private Regex encode(Regex texts) {
        Regex known = encoded.get(texts);
        if (known != null) {
            return known;
        }
        Regex result =
                switch (texts) {
                    case Regex.Empty(), Regex.None() -> texts;
                    case Regex.Chars(CodePointSet set) -> encode(set);
                    case Regex.Literal(String text) -> {
                        String quoted = quoted(text);
                        yield Regex.literal(quoted.substring(1, quoted.length() - 1));
                    }
                    case Regex.Concat(var parts) ->
                        Regex.concat(parts.stream().map(this::encode).toList());
                    case Regex.Or(var alternatives) ->
                        Regex.or(alternatives.stream().map(this::encode).toList());
                    case Regex.And(var operands) ->
                        Regex.and(operands.stream().map(this::encode).toList());
                    case Regex.Not(var operand) -> Regex.and(encode(Regex.ANY_TEXT), Regex.not(encode(operand)));
                    case Regex.Repeat(var operand, int min, int max) -> Regex.repeat(encode(operand), min, max);
                };
        encoded.put(texts, result);
        return result;
    }

    private static Regex encode(CodePointSet set) {
        List<Regex> spellings = new ArrayList<>();
        spellings.add(Regex.chars(set.intersection(PLAIN)));
        CodePointSet escaped = set.minus(PLAIN);
        for (int range = 0; range < escaped.rangeCount(); range++) {
            for (int codePoint = escaped.first(range); codePoint <= escaped.last(range); codePoint++) {
                spellings.add(Regex.literal(spelling(codePoint)));
            }
        }
        return Regex.or(spellings);
    }

    /** Returns the language of some texts, with common prefixes merged. */
    static Regex texts(Collection<String> texts) {
        GrammarWork.add((long) TEXT_STEPS * texts.size());
        TreeMap<String, Boolean> sorted = new TreeMap<>();
        texts.forEach(text -> sorted.put(text, true));
        return trie(List.copyOf(sorted.keySet()), 0);
    }

    private static Regex trie(List<String> sorted, int from) {
        List<Regex> alternatives = new ArrayList<>();
        int start = 0;
        while (start < sorted.size()) {
            String first = sorted.get(start);
            if (first.length() == from) {
                alternatives.add(Regex.EMPTY);
                start++;
                continue;
            }
            int end = start + 1;
            while (end < sorted.size() && sorted.get(end).startsWith(first.substring(from, after(first, from)), from)) {
                end++;
            }
            if (end == start + 1) {
                alternatives.add(Regex.literal(first.substring(from)));
            } else {
                int common = commonPrefix(first, sorted.get(end - 1), from);
                alternatives.add(Regex.concat(
                        Regex.literal(first.substring(from, common)), trie(sorted.subList(start, end), common)));
            }
            start = end;
        }
        return Regex.or(alternatives);
    }

    private static int after(String text, int index) {
        return index + Character.charCount(text.codePointAt(index));
    }

    /** Returns the end of the common prefix of two texts, never within a surrogate pair. */
    private static int commonPrefix(String first, String last, int from) {
        int end = from;
        while (end < first.length() && end < last.length() && first.codePointAt(end) == last.codePointAt(end)) {
            end = after(first, end);
        }
        return end;
    }
}
