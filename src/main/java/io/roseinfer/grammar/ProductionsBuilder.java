package io.roseinfer.grammar;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Translates a grammar's rules to productions. Parts of rules that are regular become one terminal where that is
 * cheaper: choices and repetitions of terminals, and sequences of short ones.
 */
final class ProductionsBuilder {
    private static final int MAX_DEPTH = 500;
    /** The maximum length, in bytes, of the texts of a short lexeme. */
    private static final int SHORT = 32;

    private static final int UNBOUNDED = Integer.MAX_VALUE;

    private record Production(int left, int[] right) {}

    private final Grammar grammar;
    private final TokenVocabulary vocabulary;
    private final ByteRegexTable table;
    private final RegexCompiler regexes;
    private final int maxRules;
    private final Runnable checkSize;

    private final Map<String, Integer> rules = new HashMap<>();
    private final Deque<String> untranslated = new ArrayDeque<>();
    private final List<Production> productions = new ArrayList<>();
    private int nonterminals;

    private final Map<ByteRegex, Integer> terminals = new LinkedHashMap<>();
    private final Map<Integer, Integer> specials = new LinkedHashMap<>();

    private final Map<String, @Nullable ByteRegex> ruleLexemes = new HashMap<>();
    private final IdentityHashMap<Expression, @Nullable ByteRegex> lexemes = new IdentityHashMap<>();
    private final Map<ByteRegex, Integer> lengths = new HashMap<>();

    /**
     * Creates a builder.
     *
     * @param checkSize throws if the regular expressions take too much memory
     */
    ProductionsBuilder(
            Grammar grammar,
            TokenVocabulary vocabulary,
            ByteRegexTable table,
            GrammarLimits limits,
            Runnable checkSize) {
        this.grammar = grammar;
        this.vocabulary = vocabulary;
        this.table = table;
        this.regexes = new RegexCompiler(table, checkSize);
        this.maxRules = limits.rules();
        this.checkSize = checkSize;
    }

    /**
     * Translates the rules that the start needs, and seals the table.
     *
     * @throws BadInput if the grammar has no text, exceeds a limit or names an unknown special token
     */
    Productions build() {
        int start = nonterminals++;
        add(start, List.of(rule(grammar.start())));
        while (!untranslated.isEmpty()) {
            String name = untranslated.pop();
            addAlternatives(rule(name), right(name), 0);
        }
        table.seal();
        return layOut(start);
    }

    private Expression right(String rule) {
        Expression right = grammar.rules().get(rule);
        if (right == null) {
            throw new IllegalStateException("no rule " + rule);
        }
        return right;
    }

    private int rule(String name) {
        Integer known = rules.get(name);
        if (known != null) {
            return known;
        }
        rules.put(name, nonterminals);
        untranslated.push(name);
        return nonterminals++;
    }

    private void add(int left, List<Integer> right) {
        if (productions.size() >= maxRules) {
            throw new BadInput("the grammar has more than " + maxRules
                    + " alternatives (the limit), repetitions expanded; lower the bounds of its repetitions");
        }
        if (productions.size() % 64 == 0) {
            checkSize.run();
        }
        productions.add(new Production(left, right.stream().mapToInt(i -> i).toArray()));
    }

    /** Adds a production for each alternative; those that are terminals share one. */
    private void addAlternatives(int left, Expression expression, int depth) {
        List<Expression> alternatives =
                expression instanceof Expression.Choice(List<Expression> choices) ? choices : List.of(expression);
        List<ByteRegex> regular = new ArrayList<>();
        for (Expression alternative : alternatives) {
            ByteRegex lexeme = lexeme(alternative, depth + 1);
            if (lexeme != null) {
                regular.add(lexeme);
            } else {
                List<Integer> right = new ArrayList<>();
                append(alternative, right, depth + 1);
                add(left, right);
            }
        }
        if (!regular.isEmpty()) {
            add(left, List.of(terminal(table.or(regular))));
        }
    }

    private int terminal(ByteRegex lexeme) {
        return ~terminals.computeIfAbsent(lexeme, _ -> terminals.size());
    }

    private void append(Expression expression, List<Integer> right, int depth) {
        if (depth > MAX_DEPTH) {
            throw new BadInput("a rule of the grammar is nested too deeply; the maximum is " + MAX_DEPTH);
        }
        ByteRegex lexeme = lexeme(expression, depth);
        if (lexeme != null) {
            right.add(terminal(lexeme));
            return;
        }
        switch (expression) {
            case Expression.Terminal(Regex regex) -> right.add(terminal(regexes.compile(regex)));
            case Expression.Sequence(List<Expression> parts) -> appendSequence(parts, right, depth);
            case Expression.Choice(List<Expression> _) -> {
                int left = nonterminals++;
                addAlternatives(left, expression, depth);
                right.add(left);
            }
            case Expression.Repeat(Expression operand, int min, int max) ->
                appendRepeat(operand, min, max, right, depth);
            case Expression.Reference(String rule) -> right.add(rule(rule));
            case Expression.TokenReference(String name) -> right.add(special(name));
        }
    }

    /**
     * Appends the parts. A run of short lexemes becomes one, and so does an unbounded repetition with the short lexeme
     * after it, which is where the repetition ends.
     */
    private void appendSequence(List<Expression> parts, List<Integer> right, int depth) {
        @Nullable ByteRegex run = null;
        for (int i = 0; i < parts.size(); i++) {
            ByteRegex lexeme = lexeme(parts.get(i), depth + 1);
            ByteRegex after = i + 1 < parts.size() ? lexeme(parts.get(i + 1), depth + 1) : null;
            boolean joins = lexeme != null
                    && (isShort(lexeme) || (isLoop(lexeme) && after != null && isShort(after) && !after.nullable));
            if (joins) {
                run = run == null ? lexeme : joined(run, lexeme);
                continue;
            }
            if (run != null) {
                right.add(terminal(run));
                run = null;
            }
            append(parts.get(i), right, depth + 1);
        }
        if (run != null) {
            right.add(terminal(run));
        }
    }

    private ByteRegex joined(ByteRegex left, @Nullable ByteRegex right) {
        return right == null ? left : table.concat(left, right);
    }

    private static boolean isLoop(ByteRegex lexeme) {
        return lexeme.kind == ByteRegex.Kind.REPEAT;
    }

    private void appendRepeat(Expression operand, int min, int max, List<Integer> right, int depth) {
        List<Integer> part = new ArrayList<>();
        append(operand, part, depth + 1);
        List<Integer> once = part;
        if (part.size() > 1) {
            int left = nonterminals++;
            add(left, part);
            once = List.of(left);
        }
        if (max == UNBOUNDED) {
            for (int i = 0; i < min; i++) {
                right.addAll(once);
                requireRules(right.size());
            }
            int loop = nonterminals++;
            add(loop, List.of());
            List<Integer> more = new ArrayList<>(List.of(loop));
            more.addAll(once);
            add(loop, more);
            right.add(loop);
            return;
        }
        requireRules(max);
        @Nullable Integer rest = null;
        for (int left = 1; left <= max; left++) {
            int chain = nonterminals++;
            List<Integer> more = new ArrayList<>(once);
            if (rest != null) {
                more.add(rest);
            }
            add(chain, more);
            if (max - left >= min) {
                add(chain, List.of());
            }
            rest = chain;
        }
        if (rest != null) {
            right.add(rest);
        }
    }

    private void requireRules(int repetitions) {
        if (repetitions > maxRules) {
            throw new BadInput(
                    "a repetition of the grammar has the bound " + repetitions + "; it must be at most " + maxRules);
        }
    }

    private int special(String name) {
        Integer token = vocabulary.special(name);
        if (token == null) {
            throw new BadInput("the grammar's special token " + Quoted.name(name) + " is not in the vocabulary");
        }
        // Numbered after all lexemes, whose number is not known yet.
        return ~(Integer.MAX_VALUE / 2 + specials.computeIfAbsent(token, _ -> specials.size()));
    }

    /** Returns the language of an expression if it is to be one terminal, or null; what is nested too deeply is none. */
    private @Nullable ByteRegex lexeme(Expression expression, int depth) {
        if (lexemes.containsKey(expression)) {
            return lexemes.get(expression);
        }
        if (depth > MAX_DEPTH) {
            return null;
        }
        ByteRegex lexeme =
                switch (expression) {
                    case Expression.Terminal(Regex regex) -> regexes.compile(regex);
                    case Expression.Sequence(List<Expression> parts) -> lexemeOfShort(parts, depth + 1);
                    case Expression.Choice(List<Expression> alternatives) -> {
                        List<ByteRegex> all = allLexemes(alternatives, depth + 1);
                        yield all == null ? null : table.or(all);
                    }
                    case Expression.Repeat(Expression operand, int min, int max) -> {
                        ByteRegex once = lexeme(operand, depth + 1);
                        yield once == null ? null : table.repeat(once, min, max);
                    }
                    case Expression.Reference(String rule) -> lexemeOfRule(rule, depth + 1);
                    case Expression.TokenReference _ -> null;
                };
        lexemes.put(expression, lexeme);
        return lexeme;
    }

    private @Nullable ByteRegex lexemeOfRule(String rule, int depth) {
        if (!ruleLexemes.containsKey(rule)) {
            ruleLexemes.put(rule, null);
            ruleLexemes.put(rule, lexeme(right(rule), depth));
        }
        return ruleLexemes.get(rule);
    }

    private @Nullable List<ByteRegex> allLexemes(List<Expression> parts, int depth) {
        List<ByteRegex> all = new ArrayList<>();
        for (Expression part : parts) {
            ByteRegex lexeme = lexeme(part, depth);
            if (lexeme == null) {
                return null;
            }
            all.add(lexeme);
        }
        return all;
    }

    private @Nullable ByteRegex lexemeOfShort(List<Expression> parts, int depth) {
        List<ByteRegex> all = allLexemes(parts, depth);
        if (all == null || all.size() > SHORT || !all.stream().allMatch(this::isShort)) {
            return null;
        }
        ByteRegex joined = table.empty;
        for (ByteRegex lexeme : all.reversed()) {
            joined = table.concat(lexeme, joined);
        }
        return joined;
    }

    private boolean isShort(ByteRegex lexeme) {
        return maxLength(lexeme) <= SHORT;
    }

    /** Returns the maximum length of a text, or {@link #UNBOUNDED} if it may be long. */
    private int maxLength(ByteRegex lexeme) {
        Integer known = lengths.get(lexeme);
        if (known == null) {
            known = computeMaxLength(lexeme);
            lengths.put(lexeme, known);
        }
        return known;
    }

    private int computeMaxLength(ByteRegex lexeme) {
        return switch (lexeme.kind) {
            case NONE, EMPTY -> 0;
            case BYTES -> 1;
            case CONCAT -> {
                int length = 0;
                ByteRegex rest = lexeme;
                while (rest.kind == ByteRegex.Kind.CONCAT && length <= SHORT) {
                    length = bounded((long) length + maxLength(rest.operands[0]));
                    rest = rest.operands[1];
                }
                yield length > SHORT ? UNBOUNDED : bounded((long) length + maxLength(rest));
            }
            case OR ->
                Arrays.stream(lexeme.operands).mapToInt(this::maxLength).max().orElse(0);
            case REPEAT -> bounded((long) lexeme.max * maxLength(lexeme.operands[0]));
            case AND, NOT -> UNBOUNDED;
        };
    }

    private static int bounded(long length) {
        return length > SHORT ? UNBOUNDED : (int) length;
    }

    /** Drops what derives no text, and flattens the rest. */
    private Productions layOut(int start) {
        List<ByteRegex> lexemeList = List.copyOf(terminals.keySet());
        Set<Integer> dead = new HashSet<>();
        Set<Integer> onlyEmpty = new HashSet<>();
        for (int i = 0; i < lexemeList.size(); i++) {
            checkSize.run();
            if (!table.isLive(lexemeList.get(i))) {
                dead.add(~i);
            } else if (!table.continues(lexemeList.get(i))) {
                onlyEmpty.add(~i);
            }
        }
        boolean[] productive = fixpoint(symbol -> !dead.contains(symbol));
        if (!productive[start]) {
            throw new BadInput("the grammar allows no text");
        }
        boolean[] nullable = fixpoint(symbol -> (onlyEmpty.contains(symbol) && !dead.contains(symbol))
                || (~symbol < lexemeList.size() && lexemeList.get(~symbol).nullable));
        int size = productions.stream()
                .mapToInt(production -> production.right().length + 1)
                .sum();
        int[] symbols = new int[size];
        List<List<Integer>> starts = new ArrayList<>();
        for (int i = 0; i < nonterminals; i++) {
            starts.add(new ArrayList<>());
        }
        int position = 0;
        for (Production production : productions) {
            if (!allHold(production.right(), productive, symbol -> !dead.contains(symbol))) {
                continue;
            }
            starts.get(production.left()).add(position);
            for (int symbol : production.right()) {
                if (!onlyEmpty.contains(symbol)) {
                    symbols[position++] = ~symbol < Integer.MAX_VALUE / 2
                            ? symbol
                            : ~(~symbol - Integer.MAX_VALUE / 2 + lexemeList.size());
                }
            }
            symbols[position++] = Productions.END;
        }
        return new Productions(
                Arrays.copyOf(symbols, position),
                starts.stream()
                        .map(list -> list.stream().mapToInt(i -> i).toArray())
                        .toArray(int[][]::new),
                nullable,
                lexemeList.toArray(ByteRegex[]::new),
                specials.keySet().stream().mapToInt(i -> i).toArray());
    }

    /** A property of terminal symbols. */
    @FunctionalInterface
    private interface TerminalProperty {
        boolean holds(int symbol);
    }

    /** Returns the nonterminals with a production whose symbols all have a property. */
    private boolean[] fixpoint(TerminalProperty property) {
        boolean[] holds = new boolean[nonterminals];
        int[] missing = new int[productions.size()];
        Map<Integer, List<Integer>> uses = new HashMap<>();
        Deque<Integer> found = new ArrayDeque<>();
        for (int i = 0; i < missing.length; i++) {
            for (int symbol : productions.get(i).right()) {
                if (symbol >= 0) {
                    missing[i]++;
                    uses.computeIfAbsent(symbol, _ -> new ArrayList<>()).add(i);
                } else if (!property.holds(symbol)) {
                    missing[i] = Integer.MIN_VALUE / 2;
                }
            }
            if (missing[i] == 0) {
                found.push(productions.get(i).left());
            }
        }
        while (!found.isEmpty()) {
            int nonterminal = found.pop();
            if (!holds[nonterminal]) {
                holds[nonterminal] = true;
                for (int production : uses.getOrDefault(nonterminal, List.of())) {
                    if (--missing[production] == 0) {
                        found.push(productions.get(production).left());
                    }
                }
            }
        }
        return holds;
    }

    private static boolean allHold(int[] symbols, boolean[] nonterminals, TerminalProperty property) {
        for (int symbol : symbols) {
            if (symbol >= 0 ? !nonterminals[symbol] : !property.holds(symbol)) {
                return false;
            }
        }
        return true;
    }
}
