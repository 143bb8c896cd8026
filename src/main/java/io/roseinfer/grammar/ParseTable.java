package io.roseinfer.grammar;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.grammar.Item.Return;
import io.roseinfer.grammar.ParseState.Scan;
import io.roseinfer.grammar.ParseState.TokenScan;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A generalized parser (Earley, 1970) as an automaton over bytes. Terminals are scanned byte by byte by derivatives, and
 * every end of a lexeme is followed, so that the language is exact. Equal sets of items are one object, hence texts
 * after which the same may follow share a state, and a state's successors are computed once.
 *
 * <p>Thread-safe: states are read without a lock and made under one.
 */
final class ParseTable {
    private static final int SCAN_BYTES = 40;
    private static final int STATE_BYTES = 100;
    private static final int ITEM_BYTES = 120;
    /** The maximum number of lexemes of a state whose row is filled at once. */
    private static final int FEW = 16;

    private static final Comparator<Item> BY_ID = Comparator.comparingLong(item -> item.id);
    private static final Comparator<Scan> BY_REST =
            Comparator.<Scan>comparingLong(scan -> scan.rest().id).thenComparingLong(scan -> scan.item().id);
    private static final Comparator<TokenScan> BY_TOKEN =
            Comparator.comparingInt(TokenScan::token).thenComparingLong(scan -> scan.item().id);

    private record StateKey(List<Scan> scans, List<TokenScan> tokens, boolean accepting) {}

    private record ItemKey(int position, long target) {}

    /** The symbols that a set of items expects next. */
    private record Row(List<Scan> scans, List<TokenScan> tokens) {}

    private final Productions productions;
    private final ByteRegexTable regexes;
    private final ByteClasses classes;
    private final GrammarLimits limits;

    private final Map<ItemKey, Item> items = new HashMap<>();
    private final Map<List<Item>, Row> rows = new HashMap<>();
    private final Map<StateKey, ParseState> states = new HashMap<>();
    private final Return end = new Return(0);
    private final ParseState dead;
    private final ParseState start;
    private long nextId = 1;
    private long size;

    private final Deque<Item> reached = new ArrayDeque<>();
    private final List<Item> kernel = new ArrayList<>();
    private long visit;
    private boolean accepts;

    ParseTable(Productions productions, ByteRegexTable regexes, ByteClasses classes, GrammarLimits limits) {
        this.productions = productions;
        this.regexes = regexes;
        this.classes = classes;
        this.limits = limits;
        dead = intern(List.of(), List.of(), false);
        begin();
        reach(item(0, end));
        close();
        Row row = row();
        start = intern(row.scans(), row.tokens(), accepts);
    }

    /** Returns the state before any text. */
    ParseState start() {
        return start;
    }

    /** Returns the state after a byte; {@link #dead} if no text continues with it. */
    ParseState next(ParseState state, int byteClass) {
        @Nullable ParseState @Nullable [] row = state.next;
        ParseState known = row == null ? null : row[byteClass];
        return known != null ? known : computeNext(state, byteClass);
    }

    /** Returns the state after which no text goes on, which is one object. */
    ParseState dead() {
        return dead;
    }

    private ParseState computeNext(ParseState state, int byteClass) {
        GrammarWork.add(state.scans().length);
        synchronized (regexes) {
            if (size + regexes.size() > limits.bytes()) {
                clear();
            }
            begin();
            List<Scan> scans = new ArrayList<>();
            for (Scan scan : state.scans()) {
                ByteRegex rest = regexes.next(scan.rest(), byteClass);
                if (rest.nullable) {
                    reach(scan.item());
                }
                if (regexes.continues(rest)) {
                    scans.add(rest == scan.rest() ? scan : new Scan(rest, scan.item()));
                }
            }
            ParseState next = finish(scans);
            @Nullable ParseState[] row = state.next == null ? newRow(state) : state.next;
            row[byteClass] = next;
            if (state.scans().length <= FEW) {
                fill(state, row, byteClass, next);
            }
            state.next = row;
            return next;
        }
    }

    /** Returns the row of a state with only the classes by which no lexeme goes on. */
    private @Nullable ParseState[] newRow(ParseState state) {
        boolean[] live = new boolean[classes.count()];
        for (Scan scan : state.scans()) {
            @Nullable ByteRegex @Nullable [] rests = scan.rest().next;
            for (int i = 0; i < live.length; i++) {
                live[i] |= rests == null || rests[i] != regexes.none;
            }
        }
        @Nullable ParseState[] row = new ParseState[live.length];
        for (int i = 0; i < live.length; i++) {
            row[i] = live[i] ? null : dead;
        }
        size += 16 + 4L * row.length;
        return row;
    }

    /** Sets the next state for the other classes by which all lexemes go on in the same way. */
    private static void fill(ParseState state, @Nullable ParseState[] row, int byteClass, ParseState next) {
        for (int i = 0; i < row.length; i++) {
            boolean same = row[i] == null;
            for (Scan scan : state.scans()) {
                @Nullable ByteRegex @Nullable [] rests = scan.rest().next;
                same = same && rests != null && rests[i] != null && rests[i] == rests[byteClass];
            }
            if (same) {
                row[i] = next;
            }
        }
    }

    /** Returns the state after a special token; dead if it is not allowed. */
    ParseState nextToken(ParseState state, int token) {
        synchronized (regexes) {
            begin();
            for (TokenScan scan : state.tokens()) {
                if (scan.token() == token) {
                    reach(scan.item());
                }
            }
            return finish(new ArrayList<>());
        }
    }

    /** Returns the state that has only those scans of another whose lexeme is not in a list. */
    ParseState narrow(ParseState state, List<ByteRegex> wide) {
        synchronized (regexes) {
            List<Scan> scans = new ArrayList<>();
            for (Scan scan : state.scans()) {
                if (!wide.contains(scan.rest())) {
                    scans.add(scan);
                }
            }
            return intern(scans, List.of(), false);
        }
    }

    /** Returns what may follow once a lexeme of the state ends. */
    ParseState after(ParseState state, ByteRegex lexeme) {
        synchronized (regexes) {
            begin();
            for (Scan scan : state.scans()) {
                if (scan.rest().equals(lexeme)) {
                    reach(scan.item());
                }
            }
            return finish(new ArrayList<>());
        }
    }

    /** Completes the reached items and adds what they expect to the scans that go on. */
    private ParseState finish(List<Scan> scans) {
        if (reached.isEmpty()) {
            return intern(scans, List.of(), false);
        }
        close();
        Row row = row();
        scans.addAll(row.scans());
        return intern(scans, row.tokens(), accepts);
    }

    /** Begins a traversal; the last one may have failed at a limit. */
    private void begin() {
        visit++;
        reached.clear();
    }

    private void reach(Item item) {
        if (item.visit != visit) {
            item.visit = visit;
            reached.push(item);
        }
    }

    /**
     * Completes productions until no more item is reached. Leaves in {@link #kernel} the items before a symbol, and in
     * {@link #accepts} whether the start symbol is complete.
     */
    private void close() {
        kernel.clear();
        accepts = false;
        while (!reached.isEmpty()) {
            Item item = reached.pop();
            int symbol = productions.symbol(item.position);
            if (symbol != Productions.END) {
                kernel.add(item);
                if (productions.isNullable(symbol)) {
                    reach(item(item.position + 1, item.target));
                }
            } else if (item.target == end) {
                accepts = true;
            } else {
                for (Item waiting : item.target.waiting) {
                    reach(waiting);
                }
            }
        }
        if (kernel.size() > limits.states()) {
            throw tooAmbiguous();
        }
        kernel.sort(BY_ID);
    }

    private BadInput tooAmbiguous() {
        return new BadInput("the grammar is too ambiguous: a text has more than " + limits.states()
                + " parses at the same time (the limit)");
    }

    private Item item(int position, Return target) {
        return items.computeIfAbsent(new ItemKey(position, target.id), _ -> {
            size += ITEM_BYTES;
            return new Item(nextId++, position, target);
        });
    }

    private ParseState intern(List<Scan> scans, List<TokenScan> tokens, boolean accepting) {
        if (scans.size() > limits.states()) {
            throw tooAmbiguous();
        }
        Scan[] sorted = scans.toArray(Scan[]::new);
        Arrays.sort(sorted, BY_REST);
        int distinct = 0;
        for (Scan scan : sorted) {
            if (distinct == 0 || !scan.equals(sorted[distinct - 1])) {
                sorted[distinct++] = scan;
            }
        }
        Scan[] own = distinct == sorted.length ? sorted : Arrays.copyOf(sorted, distinct);
        StateKey key = new StateKey(List.of(own), tokens, accepting);
        ParseState known = states.get(key);
        if (known == null) {
            known = new ParseState(own, tokens.toArray(TokenScan[]::new), accepting);
            states.put(key, known);
            size += STATE_BYTES + (long) SCAN_BYTES * distinct;
        }
        return known;
    }

    private void intern(ParseState state) {
        states.put(new StateKey(List.of(state.scans()), List.of(state.tokens()), state.isAccepting()), state);
    }

    private Row row() {
        Row known = rows.get(kernel);
        if (known == null) {
            List<Item> key = List.copyOf(kernel);
            known = new Prediction().predict(key);
            rows.put(key, known);
            size += 100 + 8L * key.size() + (long) SCAN_BYTES * known.scans().size();
        }
        return known;
    }

    /** Adds the size of a mask to the caches'. */
    void charge(long bytes) {
        synchronized (regexes) {
            size += bytes;
        }
    }

    /** Returns the approximate size of the caches in bytes. */
    long size() {
        synchronized (regexes) {
            return size + regexes.size();
        }
    }

    /**
     * Forgets all states but those in use, which stay valid: they lose their successors and masks, which are computed
     * again.
     */
    private void clear() {
        for (ParseState state : states.values()) {
            state.next = null;
            state.mask = null;
        }
        states.clear();
        intern(dead);
        intern(start);
        items.clear();
        rows.clear();
        regexes.clear();
        size = 0;
    }

    /** The predictions from one set of items: what it expects, and the returns of the nonterminals that begin. */
    private final class Prediction {
        /**
         * An item in the making.
         *
         * @param target null if it returns to {@code begun}
         * @param begun the nonterminal that begins here, if there is no target
         */
        private record Pending(int position, @Nullable Return target, int begun) {}

        private final Map<Integer, List<Pending>> waiting = new LinkedHashMap<>();
        private final Map<Integer, Return> returns = new HashMap<>();
        private final Map<Integer, Return> made = new LinkedHashMap<>();
        private final List<Integer> resolving = new ArrayList<>();
        private final Deque<Integer> begun = new ArrayDeque<>();
        private final List<Pending> afterTerminal = new ArrayList<>();

        Row predict(List<Item> from) {
            for (Item item : from) {
                expect(new Pending(item.position, item.target, -1));
            }
            while (!begun.isEmpty()) {
                int nonterminal = begun.pop();
                for (int position : productions.starts(nonterminal)) {
                    int at = position;
                    while (expect(new Pending(at, null, nonterminal))) {
                        at++;
                    }
                }
            }
            waiting.keySet().forEach(this::returnOf);
            made.forEach((nonterminal, own) -> {
                own.waiting = waiting.getOrDefault(nonterminal, List.of()).stream()
                        .map(this::item)
                        .distinct()
                        .toArray(Item[]::new);
                size += 60 + 8L * own.waiting.length;
            });
            return row();
        }

        /** Notes what an item expects; returns whether this may be empty. */
        private boolean expect(Pending item) {
            int symbol = productions.symbol(item.position());
            if (symbol == Productions.END) {
                return false;
            }
            Pending after = new Pending(item.position() + 1, item.target(), item.begun());
            if (symbol < 0) {
                afterTerminal.add(after);
            } else {
                List<Pending> first = waiting.get(symbol);
                if (first == null) {
                    first = new ArrayList<>();
                    waiting.put(symbol, first);
                    begun.push(symbol);
                }
                first.add(after);
            }
            return productions.isNullable(symbol);
        }

        /**
         * Returns where a nonterminal that begins here returns to. If it is the last symbol of the only production that
         * waits for it, this is where that production returns to, so that right recursion needs no stack (Leo, 1991).
         */
        private Return returnOf(int nonterminal) {
            Return known = returns.get(nonterminal);
            if (known != null) {
                return known;
            }
            List<Pending> all = waiting.getOrDefault(nonterminal, List.of());
            Return result;
            if (all.size() == 1
                    && productions.symbol(all.getFirst().position()) == Productions.END
                    && !resolving.contains(nonterminal)) {
                Pending only = all.getFirst();
                resolving.add(nonterminal);
                result = only.target() != null ? only.target() : returnOf(only.begun());
            } else {
                result = new Return(nextId++);
                made.put(nonterminal, result);
            }
            Return inCycle = returns.putIfAbsent(nonterminal, result);
            return inCycle == null ? result : inCycle;
        }

        private Item item(Pending item) {
            return ParseTable.this.item(
                    item.position(), item.target() != null ? item.target() : returnOf(item.begun()));
        }

        private Row row() {
            List<Scan> scans = new ArrayList<>();
            List<TokenScan> tokens = new ArrayList<>();
            for (Pending after : afterTerminal) {
                int terminal = productions.symbol(after.position() - 1);
                if (productions.isToken(terminal)) {
                    tokens.add(new TokenScan(productions.token(terminal), item(after)));
                } else {
                    scans.add(new Scan(productions.lexeme(terminal), item(after)));
                }
            }
            scans.sort(BY_REST);
            return new Row(
                    scans.stream().distinct().toList(),
                    tokens.stream().sorted(BY_TOKEN).distinct().toList());
        }
    }
}
