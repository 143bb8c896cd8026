package io.roseinfer.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Masks of random grammars equal what a slow recognizer says of every token. */
class MaskOracleTest {
    private static final long SEED = Long.getLong("roseinfer.seed", 1);
    private static final int GRAMMARS = Integer.getInteger("roseinfer.iters", 300);
    private static final int STATES = 25;
    private static final int MAX_BYTES = 16;
    private static final GrammarLimits SMALL_CACHES = new GrammarLimits(100_000, 300_000, 100_000, Long.MAX_VALUE);

    /** Bytes and special tokens of which at least two may follow unless one byte must. */
    private static final int[] CANDIDATES = IntStream.concat(
                    unsigned("ab\"\\\n z10\u00e9\u00ea\u0128\u20ac\u0939\ud83d\ude00\ud83d\ude01\ud800\udc00"
                            .getBytes(StandardCharsets.UTF_8)),
                    IntStream.of(PrefixOracle.special(0), PrefixOracle.special(1)))
            .distinct()
            .toArray();

    private static IntStream unsigned(byte[] bytes) {
        return IntStream.range(0, bytes.length).map(i -> bytes[i] & 0xFF);
    }

    private long states;

    @Test
    void masks_equal_those_of_a_slow_recognizer() {
        for (long seed = SEED; seed < SEED + GRAMMARS; seed++) {
            check(seed);
        }
        assertThat(states).as("states checked").isGreaterThan(2L * GRAMMARS);
        if (GRAMMARS > 1000) {
            System.out.println(states + " states of " + GRAMMARS + " grammars");
        }
    }

    private void check(long seed) {
        RandomGrammars made = new RandomGrammars(seed);
        Grammar grammar = made.grammar();
        TokenTrie trie = TokenTrie.of(TokenVocabulary.of(made.vocabulary(), RandomGrammars.SPECIAL));
        PrefixOracle oracle = new PrefixOracle(grammar, RandomGrammars.SPECIAL, RandomGrammars.NAMED);
        GrammarLimits limits = seed % 2 == 0 ? GrammarLimits.DEFAULT : SMALL_CACHES;
        if (oracle.isEmpty()) {
            assertThatThrownBy(() -> CompiledGrammar.compile(grammar, trie, limits, () -> 0))
                    .as("seed %d: %s", seed, grammar)
                    .isInstanceOf(BadInput.class)
                    .hasMessage("the grammar allows no text");
            return;
        }
        CompiledGrammar compiled = CompiledGrammar.compile(grammar, trie, limits, () -> 0);
        RandomGrammars.Known known = new RandomGrammars.Known(oracle);
        Set<List<Integer>> visited = new HashSet<>();
        GrammarCursor cursor = compiled.newCursor();
        List<Integer> text = new ArrayList<>();
        List<Integer> lengths = new ArrayList<>();
        for (int step = 0; step < STATES; step++) {
            List<Integer> allowed = expected(trie, known, text);
            if (visited.add(List.copyOf(text))) {
                states++;
                checkState(seed + ": " + grammar + " after " + text, compiled, cursor, oracle, text, allowed);
            }
            int back = made.next(4) == 0 || allowed.isEmpty() || text.size() >= MAX_BYTES
                    ? made.next(lengths.size() + 1)
                    : 0;
            cursor.rollback(back);
            for (int i = 0; i < back; i++) {
                int length = lengths.removeLast();
                text.subList(text.size() - length, text.size()).clear();
            }
            if (back == 0 && !allowed.isEmpty()) {
                int token = allowed.get(made.next(allowed.size()));
                assertThat(cursor.advance(token)).isTrue();
                List<Integer> symbols = symbols(trie, token);
                text.addAll(symbols);
                lengths.add(symbols.size());
            }
        }
    }

    private static void checkState(
            String what,
            CompiledGrammar compiled,
            GrammarCursor cursor,
            PrefixOracle oracle,
            List<Integer> text,
            List<Integer> allowed) {
        long[] words = new long[compiled.maskWords()];
        for (int round = 0; round < 2; round++) {
            cursor.mask(words);
            List<Integer> found = new ArrayList<>();
            for (int token = 0; token < 64 * words.length; token++) {
                if ((words[token >> 6] >>> token & 1) != 0) {
                    found.add(token);
                }
            }
            assertThat(found).as("seed %s", what).isEqualTo(allowed);
        }
        for (int token = 0; token < 64 * words.length; token++) {
            boolean advanced = cursor.advance(token);
            assertThat(advanced).as("token %d, seed %s", token, what).isEqualTo(allowed.contains(token));
            cursor.rollback(advanced ? 1 : 0);
        }
        PrefixOracle.Reading reading =
                oracle.new Reading(text.stream().mapToInt(i -> i).toArray());
        assertThat(cursor.isAccepting()).as("accepting, seed %s", what).isEqualTo(reading.isText());
        assertThat(cursor.forcedToken())
                .as("forced, seed %s", what)
                .isEqualTo(allowed.size() == 1 && !cursor.isAccepting() ? allowed.getFirst() : -1);
        checkForcedBytes(what, cursor, oracle, text);
    }

    private static void checkForcedBytes(String what, GrammarCursor cursor, PrefixOracle oracle, List<Integer> text) {
        byte[] bytes = new byte[4];
        int count = cursor.forcedBytes(bytes);
        List<Integer> longer = new ArrayList<>(text);
        for (int i = 0; i <= count; i++) {
            List<Integer> follow = new ArrayList<>();
            for (int symbol : CANDIDATES) {
                longer.add(symbol);
                if (oracle.new Reading(longer.stream().mapToInt(s -> s).toArray()).isPrefix()) {
                    follow.add(symbol);
                }
                longer.removeLast();
            }
            boolean ends = oracle.new Reading(longer.stream().mapToInt(s -> s).toArray()).isText();
            boolean isForced = follow.size() == 1 && follow.getFirst() < 256 && !ends;
            if (i < count) {
                assertThat(isForced).as("forced byte %d, seed %s", i, what).isTrue();
                assertThat(follow).containsExactly(bytes[i] & 0xFF);
                longer.add(follow.getFirst());
            } else if (count < bytes.length) {
                assertThat(isForced)
                        .as("end of forced bytes %d, seed %s", i, what)
                        .isFalse();
            }
        }
    }

    private static List<Integer> expected(TokenTrie trie, RandomGrammars.Known known, List<Integer> text) {
        List<Integer> allowed = new ArrayList<>();
        for (int token = 0; token < trie.vocabulary().size(); token++) {
            List<Integer> symbols = symbols(trie, token);
            List<Integer> longer = new ArrayList<>(text);
            boolean isPrefix = !symbols.isEmpty();
            for (int i = 0; i < symbols.size() && isPrefix; i++) {
                longer.add(symbols.get(i));
                isPrefix = known.isPrefix(List.copyOf(longer));
            }
            if (isPrefix) {
                allowed.add(token);
            }
        }
        return allowed;
    }

    /** Returns the bytes of a token, or the token itself if it is special; nothing if it can never be allowed. */
    private static List<Integer> symbols(TokenTrie trie, int token) {
        byte[] text = trie.vocabulary().bytes(token);
        List<Integer> symbols = new ArrayList<>();
        if (text == null) {
            if (RandomGrammars.SPECIAL.containsValue(token)) {
                symbols.add(PrefixOracle.special(token));
            }
        } else {
            for (byte value : text) {
                symbols.add(value & 0xFF);
            }
        }
        return symbols;
    }
}
