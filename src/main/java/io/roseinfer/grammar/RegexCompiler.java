package io.roseinfer.grammar;

import io.roseinfer.base.RoseException.BadInput;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Translates languages over code points to languages over the bytes of their UTF-8 encoding. */
final class RegexCompiler {
    private static final int MAX_DEPTH = 500;
    private static final int CONTINUATION = 0x80;
    private static final int CONTINUATION_BITS = 6;

    /** The last code point that is encoded in 1, 2, 3 and 4 bytes. */
    private static final int[] LAST = {0x7F, 0x7FF, 0xFFFF, 0x10FFFF};

    /** The fixed bits of the first of 1, 2, 3 and 4 bytes. */
    private static final int[] LEAD = {0, 0xC0, 0xE0, 0xF0};

    private final ByteRegexTable table;
    private final Runnable checkSize;
    private final IdentityHashMap<Regex, ByteRegex> compiled = new IdentityHashMap<>();
    private final @Nullable ByteRegex[] byValue = new ByteRegex[256];

    /**
     * Creates a compiler.
     *
     * @param checkSize throws if the regular expressions take too much memory
     */
    RegexCompiler(ByteRegexTable table, Runnable checkSize) {
        this.table = table;
        this.checkSize = checkSize;
    }

    ByteRegex compile(Regex regex) {
        return compile(regex, 0);
    }

    private ByteRegex compile(Regex regex, int depth) {
        if (depth > MAX_DEPTH) {
            throw new BadInput("a regular expression of the grammar is nested too deeply; the maximum is " + MAX_DEPTH);
        }
        ByteRegex known = compiled.get(regex);
        if (known == null) {
            checkSize.run();
            known = translate(regex, depth + 1);
            compiled.put(regex, known);
        }
        return known;
    }

    private ByteRegex translate(Regex regex, int depth) {
        return switch (regex) {
            case Regex.Empty _ -> table.empty;
            case Regex.None _ -> table.none;
            case Regex.Chars(CodePointSet set) -> chars(set);
            case Regex.Literal(String text) -> literal(text);
            case Regex.Concat(List<Regex> parts) -> {
                ByteRegex all = table.empty;
                for (Regex part : parts.reversed()) {
                    all = table.concat(compile(part, depth), all);
                }
                yield all;
            }
            case Regex.Or(List<Regex> alternatives) ->
                table.or(alternatives.stream().map(part -> compile(part, depth)).toList());
            case Regex.And(List<Regex> operands) -> intersection(operands, depth);
            case Regex.Not _ -> intersection(List.of(regex), depth);
            case Regex.Repeat(Regex operand, int min, int max) -> table.repeat(compile(operand, depth), min, max);
        };
    }

    /** A complement is one within UTF-8, which any operand that is not a complement ensures. */
    private ByteRegex intersection(List<Regex> operands, int depth) {
        List<ByteRegex> parts = new ArrayList<>();
        boolean wellFormed = false;
        for (Regex operand : operands) {
            if (operand instanceof Regex.Not(Regex negated)) {
                parts.add(table.not(compile(negated, depth)));
            } else {
                parts.add(compile(operand, depth));
                wellFormed = true;
            }
        }
        if (!wellFormed) {
            parts.add(compile(Regex.ANY_TEXT, depth));
        }
        return table.and(parts);
    }

    private ByteRegex literal(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        ByteRegex all = table.empty;
        for (int i = bytes.length - 1; i >= 0; i--) {
            all = table.concat(single(bytes[i] & 0xFF), all);
        }
        return all;
    }

    private ByteRegex single(int value) {
        ByteRegex known = byValue[value];
        if (known == null) {
            known = table.bytes(ByteSet.range(value, value));
            byValue[value] = known;
        }
        return known;
    }

    private ByteRegex chars(CodePointSet set) {
        Map<ByteRegex, ByteSet> leadsByRest = new LinkedHashMap<>();
        for (int i = 0; i < set.rangeCount(); i++) {
            int from = 0;
            for (int more = 0; more < LAST.length; more++) {
                int first = Math.max(set.first(i), from);
                int last = Math.min(set.last(i), LAST[more]);
                if (first <= last) {
                    addRange(first, last, more, LEAD[more], leadsByRest);
                }
                from = LAST[more] + 1;
            }
        }
        return union(leadsByRest);
    }

    private ByteRegex union(Map<ByteRegex, ByteSet> leadsByRest) {
        List<ByteRegex> alternatives = new ArrayList<>();
        leadsByRest.forEach((rest, leads) -> alternatives.add(table.concat(table.bytes(leads), rest)));
        return table.or(alternatives);
    }

    /**
     * Adds the encodings of a range of values.
     *
     * @param more the number of bytes after the first
     * @param mark the fixed bits of the first byte
     * @param leadsByRest receives the first bytes by the language of the bytes after them
     */
    private void addRange(int first, int last, int more, int mark, Map<ByteRegex, ByteSet> leadsByRest) {
        int bits = more * CONTINUATION_BITS;
        int mask = (1 << bits) - 1;
        int low = first >>> bits;
        int high = last >>> bits;
        if (low == high) {
            add(low, high, mark, rest(first & mask, last & mask, more), leadsByRest);
            return;
        }
        if ((first & mask) != 0) {
            add(low, low, mark, rest(first & mask, mask, more), leadsByRest);
            low++;
        }
        boolean endsWithin = (last & mask) != mask;
        if (endsWithin) {
            add(high, high, mark, rest(0, last & mask, more), leadsByRest);
            high--;
        }
        if (low <= high) {
            add(low, high, mark, rest(0, mask, more), leadsByRest);
        }
    }

    private static void add(int low, int high, int mark, ByteRegex rest, Map<ByteRegex, ByteSet> leadsByRest) {
        leadsByRest.merge(rest, ByteSet.range(mark | low, mark | high), ByteSet::union);
    }

    /** Returns the language of {@code count} continuation bytes with a value from {@code first} to {@code last}. */
    private ByteRegex rest(int first, int last, int count) {
        if (count == 0) {
            return table.empty;
        }
        Map<ByteRegex, ByteSet> leadsByRest = new LinkedHashMap<>();
        addRange(first, last, count - 1, CONTINUATION, leadsByRest);
        return union(leadsByRest);
    }
}
