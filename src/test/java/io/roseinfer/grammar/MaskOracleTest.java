package io.roseinfer.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.TokenMask;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Masks of random grammars equal what a slow recognizer says of every token. {@code -Droseinfer.iters} sets the number of
 * grammars; 20,000 have a million states.
 */
class MaskOracleTest {
    private static final long SEED = Long.getLong("roseinfer.seed", 1);
    private static final int GRAMMARS = Integer.getInteger("roseinfer.iters", 100);
    private static final int STEPS = GRAMMARS > 1000 ? 400 : 50;
    private static final int MAX_BYTES = 16;
    private static final GrammarLimits SMALL_CACHES = new GrammarLimits(100_000, 300_000, 100_000, Long.MAX_VALUE);

    private long states;
    private int tooLarge;

    @Test
    void masks_equal_those_of_a_slow_recognizer() {
        for (long seed = SEED; seed < SEED + GRAMMARS; seed++) {
            check(seed);
        }
        assertThat(states).as("states checked").isGreaterThan(10L * GRAMMARS);
        if (GRAMMARS > 1000) {
            System.out.println(states + " states of " + GRAMMARS + " grammars from seed " + SEED + "; " + tooLarge
                    + " were drawn again, their automata being too large for the recognizer");
        }
    }

    private void check(long seed) {
        RandomGrammars made = new RandomGrammars(seed);
        PrefixOracle oracle = oracle(made);
        Grammar grammar = oracle.grammar();
        TokenTrie trie = TokenTrie.of(TokenVocabulary.of(made.vocabulary(), RandomGrammars.SPECIAL));
        List<List<Integer>> tokens = IntStream.range(0, trie.vocabulary().size())
                .mapToObj(token -> symbols(trie, token))
                .toList();
        GrammarLimits limits = seed % 2 == 0 ? GrammarLimits.DEFAULT : SMALL_CACHES;
        if (oracle.isEmpty()) {
            assertThatThrownBy(() -> CompiledGrammar.compile(grammar, trie, limits))
                    .as("seed %d: %s", seed, grammar)
                    .isInstanceOf(BadInput.class)
                    .hasMessage("the grammar allows no text");
            return;
        }
        CompiledGrammar compiled = CompiledGrammar.compile(grammar, trie, limits);
        RandomGrammars.Known known = new RandomGrammars.Known(oracle);
        Set<List<Integer>> visited = new HashSet<>();
        GrammarCursor cursor = compiled.newCursor();
        List<Integer> text = new ArrayList<>();
        List<Integer> lengths = new ArrayList<>();
        for (int step = 0; step < STEPS; step++) {
            List<Integer> allowed = expected(tokens, known, text);
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
            if (back == 0 && !allowed.isEmpty() && text.size() < MAX_BYTES) {
                int token = allowed.get(made.next(allowed.size()));
                assertThat(cursor.advance(token)).isTrue();
                text.addAll(tokens.get(token));
                lengths.add(tokens.get(token).size());
            }
        }
    }

    private PrefixOracle oracle(RandomGrammars made) {
        while (true) {
            try {
                return new PrefixOracle(made.grammar(), RandomGrammars.SPECIAL, RandomGrammars.NAMED);
            } catch (PrefixOracle.TooLargeException e) {
                tooLarge++;
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
        TokenMask mask = compiled.newMask();
        for (int round = 0; round < 2; round++) {
            cursor.mask(mask);
            List<Integer> found = new ArrayList<>();
            for (int token = 0; token < mask.vocabularySize(); token++) {
                if (mask.allows(token)) {
                    found.add(token);
                }
            }
            assertThat(found).as("seed %s", what).isEqualTo(allowed);
        }
        for (int token = 0; token < mask.vocabularySize(); token++) {
            boolean advanced = cursor.advance(token);
            assertThat(advanced).as("token %d, seed %s", token, what).isEqualTo(allowed.contains(token));
            cursor.rollback(advanced ? 1 : 0);
        }
        PrefixOracle.Reading reading =
                oracle.new Reading(text.stream().mapToInt(i -> i).toArray());
        assertThat(cursor.isAccepting()).as("accepting, seed %s", what).isEqualTo(reading.isText());
    }

    private static List<Integer> expected(
            List<List<Integer>> tokens, RandomGrammars.Known known, List<Integer> text) {
        List<Integer> allowed = new ArrayList<>();
        for (int token = 0; token < tokens.size(); token++) {
            List<Integer> symbols = tokens.get(token);
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
