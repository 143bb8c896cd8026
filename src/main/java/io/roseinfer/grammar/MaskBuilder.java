package io.roseinfer.grammar;

import io.roseinfer.base.TokenMask;
import io.roseinfer.grammar.ParseState.Scan;
import io.roseinfer.grammar.ParseState.TokenScan;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Computes masks by walking the tree of tokens with a state per level. For one thread.
 *
 * <p>The mask of a state is the union of the masks of its lexemes. A lexeme that allows many characters has a mask of its
 * own, independent of the state, for the tokens within the lexeme; then only tokens that go beyond its end are walked.
 */
final class MaskBuilder {
    /** The minimum number of allowed ASCII characters of a lexeme that has a mask of its own. */
    private static final int MANY = 20;

    /** The maximum number of states after runs of one length. */
    private static final int MAX_LAYER = 32;

    private static final int UNBOUNDED = Integer.MAX_VALUE;

    private final ParseTable table;
    private final ByteRegexTable regexes;
    private final ByteClasses classes;
    private final TokenTrie trie;
    private final FlatTrie[] trees;
    private final int[] plainBytes;

    private final ParseState[] states;
    private final ByteRegex[] rests;
    private int[] tokens = new int[256];
    private int count;

    MaskBuilder(ParseTable table, ByteRegexTable regexes, ByteClasses classes, TokenTrie trie, int[] plainBytes) {
        this.table = table;
        this.regexes = regexes;
        this.classes = classes;
        this.trie = trie;
        this.plainBytes = plainBytes;
        List<FlatTrie> all = new ArrayList<>();
        trie.slices().forEach(slice -> all.add(slice.trie()));
        all.add(trie.rest());
        trees = all.toArray(FlatTrie[]::new);
        states = new ParseState[trie.maxBytes() + 1];
        rests = new ByteRegex[trie.maxBytes() + 1];
        Arrays.fill(states, table.dead());
        Arrays.fill(rests, regexes.none);
    }

    /** Returns the mask of a state. */
    MaskParts mask(ParseState state) {
        MaskParts known = state.mask;
        if (known != null) {
            return known;
        }
        return GrammarWork.mask(() -> compute(state));
    }

    private MaskParts compute(ParseState state) {
        count = 0;
        List<ByteRegex> wide = new ArrayList<>();
        List<TokenMask> parts = new ArrayList<>();
        for (Scan scan : state.scans()) {
            LexemeMask lexeme = lexemeMask(scan.rest());
            if (!lexeme.isNarrow() && !wide.contains(scan.rest())) {
                wide.add(scan.rest());
                parts.add(lexeme.mask());
            }
        }
        if (wide.size() < state.scans().length) {
            ParseState narrow = wide.isEmpty() ? state : table.narrow(state, wide);
            walk(trie.all(), 0, trie.all().size(), 0, narrow);
        }
        for (ByteRegex lexeme : wide) {
            walkBeyond(lexemeMask(lexeme), table.after(state, lexeme));
        }
        for (TokenScan scan : state.tokens()) {
            add(scan.token());
        }
        MaskParts mask = finish(parts);
        state.mask = mask;
        table.charge(mask.size());
        return mask;
    }

    private MaskParts finish(List<TokenMask> parts) {
        int[] twins = trie.twins();
        int[] listed = Arrays.stream(tokens, 0, count)
                .filter(token -> parts.stream().noneMatch(part -> part.allows(token)))
                .distinct()
                .toArray();
        if (twins.length == 0 && 4L * listed.length <= trie.vocabulary().size() / 8) {
            return new MaskParts(parts.toArray(TokenMask[]::new), listed);
        }
        TokenMask own = trie.newMask();
        for (int token : listed) {
            own.allow(token);
        }
        MaskParts.addTwins(own, twins);
        if (own.isEmpty()) {
            return new MaskParts(parts.toArray(TokenMask[]::new), new int[0]);
        }
        List<TokenMask> all = new ArrayList<>(parts);
        all.add(own);
        table.charge(own.vocabularySize() / 8);
        return new MaskParts(all.toArray(TokenMask[]::new), new int[0]);
    }

    private void add(int token) {
        if (count == tokens.length) {
            tokens = Arrays.copyOf(tokens, 2 * count);
        }
        tokens[count++] = token;
    }

    /** Walks the tokens that begin within a lexeme and end after it. */
    private void walkBeyond(LexemeMask lexeme, ParseState after) {
        if (after.scans().length == 0) {
            return;
        }
        for (int i = 0; i < trees.length; i++) {
            FlatTrie tree = trees[i];
            for (int node : lexeme.ends()[i]) {
                walk(tree, node + 1, tree.end[node], tree.depth[node] + 1, after);
            }
        }
    }

    /**
     * Adds the tokens of some subtrees that are allowed.
     *
     * @param from the first node
     * @param to the node after the last
     * @param depth the depth of the subtrees' roots
     * @param start the state before these
     */
    private void walk(FlatTrie tree, int from, int to, int depth, ParseState start) {
        ParseState dead = table.dead();
        states[0] = start;
        int node = from;
        while (node < to) {
            int label = tree.label[node];
            int level = tree.depth[node] - depth;
            ParseState next = table.next(states[level], classes.of(FlatTrie.lastByte(label)));
            if (next == dead) {
                node = tree.end[node];
                continue;
            }
            states[level + 1] = next;
            int token = FlatTrie.token(label);
            if (token >= 0) {
                add(token);
            }
            node++;
        }
    }

    /** Returns the tokens within a lexeme, or {@link LexemeMask#NARROW}. */
    private LexemeMask lexemeMask(ByteRegex lexeme) {
        LexemeMask known = lexeme.mask;
        if (known == null) {
            ByteRegex horizon = regexes.horizon(lexeme);
            known = horizon == lexeme ? computeLexemeMask(lexeme) : lexemeMask(horizon);
            lexeme.mask = known;
        }
        return known;
    }

    private LexemeMask computeLexemeMask(ByteRegex lexeme) {
        if (!allowsMany(lexeme)) {
            return LexemeMask.NARROW;
        }
        PlainRun run = plainRun(lexeme);
        TokenMask mask = trie.newMask();
        int[][] ends = new int[trees.length][];
        for (int i = 0; i < trees.length - 1; i++) {
            PlainSlice slice = trie.slices().get(i);
            ends[i] = new int[0];
            if (slice.max() <= run.all()) {
                mask.or(slice.mask());
            } else if (slice.min() < run.dead() || run.firstEnd() < UNBOUNDED) {
                ends[i] = walkLexeme(trees[i], lexeme, mask);
            }
        }
        ends[trees.length - 1] = walkLexeme(trees[trees.length - 1], lexeme, mask);
        MaskParts.addTwins(mask, trie.twins());
        LexemeMask made = new LexemeMask(mask, ends);
        table.charge(made.size());
        return made;
    }

    /** Returns whether all plain characters are allowed, or many, after which the lexeme does not end. */
    private boolean allowsMany(ByteRegex lexeme) {
        int allowed = 0;
        for (int value = ' '; value < 0x7F; value++) {
            if (trie.plain().next(0, value) != PlainChars.DEAD
                    && regexes.next(lexeme, classes.of((byte) value)) != regexes.none) {
                allowed++;
            }
        }
        if (allowed < MANY) {
            return false;
        }
        PlainStep step = plainStep(lexeme);
        return step.all() || Arrays.stream(step.next()).noneMatch(rest -> rest.nullable);
    }

    /**
     * The lengths of runs of plain characters that a lexeme allows.
     *
     * @param all maximum length up to which every run is allowed
     * @param dead minimum length from which no run is allowed
     * @param firstEnd the minimum length of a run after which the lexeme may end
     */
    private record PlainRun(int all, int dead, int firstEnd) {}

    private PlainRun plainRun(ByteRegex lexeme) {
        Set<ByteRegex> layer = Set.of(lexeme);
        int all = 0;
        int firstEnd = UNBOUNDED;
        int longest = trie.slices().isEmpty() ? 0 : trie.slices().getLast().min();
        for (int length = 1; length <= longest; length++) {
            Set<ByteRegex> next = new HashSet<>();
            boolean allowed = all == length - 1;
            for (ByteRegex rest : layer) {
                PlainStep step = plainStep(rest);
                allowed &= step.all();
                next.addAll(List.of(step.next()));
            }
            if (next.isEmpty()) {
                return new PlainRun(all, length, firstEnd);
            }
            if (firstEnd == UNBOUNDED && next.stream().anyMatch(rest -> rest.nullable)) {
                firstEnd = length;
            }
            all = allowed ? length : all;
            if (next.equals(layer)) {
                return new PlainRun(allowed ? UNBOUNDED : all, UNBOUNDED, firstEnd);
            }
            if (next.size() > MAX_LAYER) {
                return new PlainRun(all, UNBOUNDED, 0);
            }
            layer = next;
        }
        return new PlainRun(all, UNBOUNDED, firstEnd);
    }

    private PlainStep plainStep(ByteRegex lexeme) {
        PlainStep known = lexeme.plain;
        if (known == null) {
            known = computePlainStep(lexeme);
            lexeme.plain = known;
        }
        return known;
    }

    private PlainStep computePlainStep(ByteRegex lexeme) {
        record Pair(int state, ByteRegex rest) {}
        PlainChars plain = trie.plain();
        Set<Pair> seen = new HashSet<>();
        Set<ByteRegex> after = new LinkedHashSet<>();
        List<Pair> open = new ArrayList<>(List.of(new Pair(0, lexeme)));
        boolean all = true;
        while (!open.isEmpty()) {
            Pair pair = open.removeLast();
            for (int value : plainBytes) {
                int state = plain.next(pair.state(), value);
                if (state == PlainChars.DEAD) {
                    continue;
                }
                ByteRegex rest = regexes.next(pair.rest(), classes.of((byte) value));
                if (rest == regexes.none) {
                    all = false;
                } else if (state == plain.end()) {
                    after.add(rest);
                } else if (seen.add(new Pair(state, rest))) {
                    open.add(new Pair(state, rest));
                }
            }
        }
        return new PlainStep(after.toArray(ByteRegex[]::new), all);
    }

    /** Allows the tokens that are prefixes of a lexeme; returns the inner nodes where it may end. */
    private int[] walkLexeme(FlatTrie tree, ByteRegex lexeme, TokenMask mask) {
        ByteRegex none = regexes.none;
        int[] ends = new int[64];
        int endCount = 0;
        rests[0] = lexeme;
        int node = 0;
        while (node < tree.size()) {
            int label = tree.label[node];
            int level = tree.depth[node];
            ByteRegex rest = regexes.next(rests[level], classes.of(FlatTrie.lastByte(label)));
            if (rest == none) {
                node = tree.end[node];
                continue;
            }
            rests[level + 1] = rest;
            int token = FlatTrie.token(label);
            if (token >= 0) {
                mask.allow(token);
            }
            if (rest.nullable && tree.end[node] > node + 1) {
                if (endCount == ends.length) {
                    ends = Arrays.copyOf(ends, 2 * endCount);
                }
                ends[endCount++] = node;
            }
            node++;
        }
        return Arrays.copyOf(ends, endCount);
    }
}
