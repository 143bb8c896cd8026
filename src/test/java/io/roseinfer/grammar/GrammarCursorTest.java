package io.roseinfer.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.TokenMask;
import io.roseinfer.grammar.Expression.Repeat;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GrammarCursorTest {
    private static final Regex DIGITS = Regex.plus(Regex.chars(CodePointSet.range('0', '9')));
    private static final Regex LETTERS = Regex.plus(Regex.chars(CodePointSet.range('a', 'z')));
    private static final Regex STRING = Regex.concat(
            Regex.literal("\""),
            Regex.star(Regex.chars(
                    CodePointSet.ofRanges(0, 0x1F, '"', '"', '\\', '\\').complement())),
            Regex.literal("\""));

    /** Tokens 0..255 are the bytes; the others are the given texts. */
    private static TokenTrie trie(String... texts) {
        byte[][] tokens = new byte[256 + texts.length][];
        for (int i = 0; i < 256; i++) {
            tokens[i] = new byte[] {(byte) i};
        }
        for (int i = 0; i < texts.length; i++) {
            tokens[256 + i] = texts[i].getBytes(StandardCharsets.UTF_8);
        }
        return TokenTrie.of(TokenVocabulary.of(tokens, Map.of()));
    }

    private static CompiledGrammar compile(Grammar grammar, TokenTrie trie) {
        return CompiledGrammar.compile(grammar, trie, GrammarLimits.DEFAULT);
    }

    private static GrammarCursor cursor(Grammar grammar) {
        return compile(grammar, trie()).newCursor();
    }

    private static boolean read(GrammarCursor cursor, String text) {
        for (byte value : text.getBytes(StandardCharsets.UTF_8)) {
            if (!cursor.advance(value & 0xFF)) {
                return false;
            }
        }
        return true;
    }

    private static boolean matches(Grammar grammar, String text) {
        GrammarCursor cursor = cursor(grammar);
        return read(cursor, text) && cursor.isAccepting();
    }

    private static List<Integer> allowed(CompiledGrammar compiled, GrammarCursor cursor) {
        TokenMask mask = compiled.newMask();
        cursor.mask(mask);
        List<Integer> tokens = new ArrayList<>();
        for (int i = mask.nextAllowed(0); i != TokenMask.NONE; i = mask.nextAllowed(i + 1)) {
            tokens.add(i);
        }
        return tokens;
    }

    private static Grammar rules(Object... namesAndRules) {
        Map<String, Expression> rules = new java.util.LinkedHashMap<>();
        for (int i = 0; i < namesAndRules.length; i += 2) {
            rules.put((String) namesAndRules[i], (Expression) namesAndRules[i + 1]);
        }
        return new Grammar((String) namesAndRules[0], rules);
    }

    /** Lists of numbers, strings and lists. */
    private static Grammar lists() {
        Expression value = Expression.choice(
                Expression.terminal(DIGITS), Expression.terminal(STRING), Expression.reference("list"));
        Expression more = Expression.sequence(Expression.literal(","), value);
        return rules(
                "list",
                Expression.sequence(
                        Expression.literal("["),
                        Expression.optional(Expression.sequence(value, Expression.repeat(more, 0, Repeat.UNBOUNDED))),
                        Expression.literal("]")));
    }

    @Test
    void token_may_span_lexemes() {
        TokenTrie trie = trie("[\"", "\",\"", "\"]", "1,", "],[", "]]", "12]", "\"a", "é\"", ",,");
        CompiledGrammar compiled = compile(lists(), trie);
        GrammarCursor cursor = compiled.newCursor();
        assertThat(allowed(compiled, cursor)).containsExactly((int) '[', 256);
        assertThat(cursor.advance(256)).isTrue();
        assertThat(allowed(compiled, cursor))
                .contains(256, 257, 258, 259, 260, 261, 262, 264, 265)
                .doesNotContain(263, (int) '\\', 0xFF, 0x80);
        assertThat(cursor.advance(258)).isTrue();
        assertThat(cursor.isDone()).isTrue();
        assertThat(allowed(compiled, cursor)).isEmpty();
    }

    @Test
    void text_that_may_continue_is_accepted_but_not_done() {
        GrammarCursor cursor = compile(Grammar.of(Expression.terminal(LETTERS)), trie("ab")).newCursor();
        assertThat(cursor.advance('a')).isTrue();
        assertThat(cursor.isAccepting()).isTrue();
        assertThat(cursor.isDone()).isFalse();
        assertThat(cursor.advance(256)).isTrue();
        assertThat(cursor.isDone()).isFalse();
    }

    @Test
    void token_may_end_within_a_character() {
        TokenTrie trie = trie("\"\u00e9".substring(0, 2), "é\"");
        CompiledGrammar compiled = compile(Grammar.of(Expression.terminal(STRING)), trie);
        GrammarCursor cursor = compiled.newCursor();
        assertThat(cursor.advance('"')).isTrue();
        assertThat(cursor.advance(0xE2)).isTrue();
        assertThat(allowed(compiled, cursor)).hasSize(64).allMatch(token -> token >= 0x80 && token < 0xC0);
        assertThat(cursor.advance(0x82)).isTrue();
        assertThat(cursor.advance('"')).isFalse();
        assertThat(cursor.advance(0xAC)).isTrue();
        assertThat(cursor.advance('"')).isTrue();
        assertThat(cursor.isDone()).isTrue();
    }

    @Test
    void recursion_may_be_left_right_or_both() {
        Expression x = Expression.terminal(LETTERS);
        Grammar left = rules(
                "e", Expression.choice(Expression.sequence(Expression.reference("e"), Expression.literal("+"), x), x));
        Grammar right = rules(
                "e", Expression.choice(Expression.sequence(x, Expression.literal("+"), Expression.reference("e")), x));
        Grammar both = rules(
                "e",
                Expression.choice(
                        Expression.sequence(
                                Expression.reference("e"), Expression.literal("+"), Expression.reference("e")),
                        x));
        for (Grammar grammar : List.of(left, right, both)) {
            assertThat(matches(grammar, "a+bc+d")).isTrue();
            assertThat(matches(grammar, "a+bc+")).isFalse();
            assertThat(matches(grammar, "a++b")).isFalse();
        }
    }

    @Test
    void empty_rules_and_cycles_are_allowed() {
        Grammar cyclic = rules(
                "a", Expression.choice(Expression.reference("b"), Expression.literal("x"), Expression.EMPTY),
                "b",
                        Expression.choice(
                                Expression.sequence(Expression.reference("a"), Expression.reference("a")),
                                Expression.reference("a")));
        assertThat(matches(cyclic, "")).isTrue();
        assertThat(matches(cyclic, "xxxx")).isTrue();
        assertThat(matches(cyclic, "xy")).isFalse();
    }

    @Test
    void ambiguous_lexemes_are_all_followed() {
        Expression word = Expression.terminal(LETTERS);
        Grammar grammar = Grammar.of(Expression.choice(
                Expression.sequence(word, Expression.literal("ab"), word),
                Expression.sequence(Expression.literal("i"), Expression.literal("1"))));
        assertThat(matches(grammar, "xababy")).isTrue();
        assertThat(matches(grammar, "xaby")).isTrue();
        assertThat(matches(grammar, "aby")).isFalse();
        assertThat(matches(grammar, "i1")).isTrue();
    }

    @Test
    void caches_do_not_grow_with_the_length_of_recursion() {
        Grammar right = rules(
                "e",
                Expression.choice(
                        Expression.sequence(Expression.literal("a"), Expression.reference("e")),
                        Expression.literal("b")));
        CompiledGrammar compiled = compile(right, trie());
        GrammarCursor cursor = compiled.newCursor();
        assertThat(read(cursor, "aaaaaaaa")).isTrue();
        long size = compiled.cachedBytes();
        assertThat(read(cursor, "a".repeat(10_000))).isTrue();
        assertThat(compiled.cachedBytes()).isEqualTo(size);
        assertThat(read(cursor, "b")).isTrue();
        assertThat(cursor.isDone()).isTrue();
    }

    @Test
    void caches_are_cleared_at_their_limit() {
        TokenTrie trie = trie("[[[", "]]]");
        GrammarLimits limits = new GrammarLimits(1000, 100_000, 1000, Long.MAX_VALUE);
        CompiledGrammar compiled = CompiledGrammar.compile(lists(), trie, limits);
        GrammarCursor cursor = compiled.newCursor();
        TokenMask mask = compiled.newMask();
        for (int i = 0; i < 3000; i++) {
            cursor.mask(mask);
            assertThat(cursor.advance('[')).isTrue();
        }
        for (int i = 0; i < 3000; i++) {
            cursor.mask(mask);
            assertThat(mask.allows(257)).as("depth %d", 3000 - i).isEqualTo(3000 - i >= 3);
            assertThat(cursor.advance(']')).isTrue();
        }
        assertThat(cursor.isDone()).isTrue();
        assertThat(compiled.cachedBytes()).isLessThan(200_000);
    }

    @Test
    void rollback_restores_the_state() {
        CompiledGrammar compiled = compile(lists(), trie("[1", "2]"));
        GrammarCursor cursor = compiled.newCursor();
        List<Integer> before = allowed(compiled, cursor);
        assertThat(read(cursor, "[\"x\",[2]")).isTrue();
        assertThat(cursor.length()).isEqualTo(8);
        cursor.rollback(8);
        assertThat(allowed(compiled, cursor)).isEqualTo(before);
        assertThat(cursor.length()).isZero();
        assertThatThrownBy(() -> cursor.rollback(1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("cannot take back 1 of 0 tokens");
    }

    @Test
    void rejected_token_leaves_the_cursor_unchanged() {
        CompiledGrammar compiled = compile(lists(), trie("[,"));
        GrammarCursor cursor = compiled.newCursor();
        List<Integer> before = allowed(compiled, cursor);
        assertThat(cursor.advance(256)).isFalse();
        assertThat(cursor.advance(-1)).isFalse();
        assertThat(cursor.advance(257)).isFalse();
        assertThat(allowed(compiled, cursor)).isEqualTo(before);
        assertThat(cursor.length()).isZero();
    }

    @Test
    void special_tokens_are_allowed_only_by_name() {
        byte[][] tokens = {
            "a".getBytes(StandardCharsets.UTF_8), "<e>".getBytes(StandardCharsets.UTF_8), {'<'}, {'e'}, {'>'}
        };
        TokenTrie trie = TokenTrie.of(TokenVocabulary.of(tokens, Map.of("<e>", 1)));
        CompiledGrammar text = compile(Grammar.of(Expression.terminal(Regex.ANY_TEXT)), trie);
        assertThat(allowed(text, text.newCursor())).containsExactly(0, 2, 3, 4);
        Grammar named = Grammar.of(Expression.sequence(
                Expression.terminal(Regex.star(Regex.literal("a"))), new Expression.TokenReference("<e>")));
        CompiledGrammar compiled = compile(named, trie);
        GrammarCursor cursor = compiled.newCursor();
        assertThat(allowed(compiled, cursor)).containsExactly(0, 1);
        assertThat(cursor.advance(1)).isTrue();
        assertThat(cursor.isDone()).isTrue();
        assertThatThrownBy(() -> compile(Grammar.of(new Expression.TokenReference("<f>")), trie))
                .isInstanceOf(BadInput.class)
                .hasMessage("the grammar's special token \"<f>\" is not in the vocabulary");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"type\":\"string\",\"format\":\"hostname\"}",
                "{\"type\":\"string\",\"pattern\":\"^[a-z.-]+$\",\"maxLength\":253,\"not\":{\"pattern\":\"(^|[.])..--\"}}"
            })
    void excluded_text_is_recognized_without_a_search(String schema) {
        GrammarCursor cursor = compile(Grammar.jsonSchema(schema), trie()).newCursor();
        assertThat(read(cursor, "\"a-b.example.a-b--c\"")).isTrue();
        assertThat(cursor.isDone()).isTrue();
        cursor.rollback(cursor.length());
        assertThat(read(cursor, "\"a.xn--")).isFalse();
    }

    @Test
    void limits_are_named() {
        Expression many =
                Expression.repeat(Expression.sequence(Expression.reference("r"), Expression.terminal(STRING)), 0, 5000);
        Grammar repetitions = rules(
                "root",
                many,
                "r",
                Expression.choice(
                        Expression.sequence(Expression.literal("("), Expression.reference("r")),
                        Expression.literal(")")));
        assertThatThrownBy(() -> CompiledGrammar.compile(
                        repetitions, trie(), new GrammarLimits(1000, 1 << 20, 1000, 1000)))
                .isInstanceOf(BadInput.class)
                .hasMessage("a repetition of the grammar has the bound 5000; it must be at most 1000");
        assertThatThrownBy(() -> CompiledGrammar.compile(
                        Grammar.choice(List.of("ab", "cd")), trie(), new GrammarLimits(1000, 1 << 20, 100_000, 5)))
                .isInstanceOf(BadInput.class)
                .hasMessageStartingWith("compiling the grammar takes more than 5 steps (the limit); simplify");
        Grammar large = Grammar.of(Expression.literal("0123456789".repeat(10_000)));
        assertThatThrownBy(() -> CompiledGrammar.compile(
                        large, trie(), new GrammarLimits(1000, 1 << 20, 1000, Long.MAX_VALUE)))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("take more than 524288 bytes (half of the limit)");
    }

    @Test
    void pattern_with_a_long_minimum_is_compiled() {
        String schema = "{\"type\":\"string\",\"pattern\":\"^([A-F]{2}:)+$\",\"minLength\":9999}";
        CompiledGrammar compiled = compile(Grammar.jsonSchema(schema), trie());
        assertThat(read(compiled.newCursor(), '"' + "AB:".repeat(3333) + '"')).isTrue();
        assertThat(read(compiled.newCursor(), '"' + "AB:".repeat(3332) + '"')).isFalse();
    }

    @Test
    void derivatives_of_intersections_count_each_pair_of_operands_as_work() {
        Grammar intersection = Grammar.lark("start: A\nA: /.*a.{3}/ & /.*b.{4}/ & /.*c.{5}/ & /.*d.{6}/");
        assertThatThrownBy(() -> CompiledGrammar.compile(
                        intersection, trie(), new GrammarLimits(20_000, 64L << 20, 200_000, 300_000)))
                .isInstanceOf(BadInput.class)
                .hasMessageStartingWith("compiling the grammar takes more than 300000 steps");
    }

    /** The verdict does not depend on time. */
    @Test
    void large_enumeration_is_compiled() {
        String texts = IntStream.range(0, 20_000)
                .mapToObj(i -> "\"v" + i * 2_654_435_761L + "\"")
                .collect(Collectors.joining(","));
        CompiledGrammar compiled = compile(Grammar.jsonSchema("{\"enum\":[" + texts + "]}"), trie());
        assertThat(read(compiled.newCursor(), "\"v2654435761\"")).isTrue();
        assertThat(read(compiled.newCursor(), "\"v2654435762\"")).isFalse();
    }

    @Test
    void object_of_a_thousand_optional_properties_is_compiled() {
        String properties = IntStream.range(0, 1000)
                .mapToObj(i -> "\"p" + i + "\":{\"type\":\"integer\"}")
                .collect(Collectors.joining(","));
        Grammar grammar = Grammar.jsonSchema("{\"type\":\"object\",\"properties\":{" + properties + "}}");
        assertThat(matches(grammar, "{}")).isTrue();
        assertThat(matches(grammar, "{\"p0\":1,\"p500\":2,\"p999\":3}")).isTrue();
        assertThat(matches(grammar, "{\"p0\":1,\"p500\":true}")).isFalse();
    }

    @Test
    void ambiguity_is_limited() {
        Grammar pairs = rules(
                "s",
                Expression.choice(
                        Expression.sequence(Expression.reference("s"), Expression.reference("s")),
                        Expression.literal("a")));
        CompiledGrammar compiled =
                CompiledGrammar.compile(pairs, trie(), new GrammarLimits(50, 1 << 24, 1000, Long.MAX_VALUE));
        GrammarCursor cursor = compiled.newCursor();
        assertThat(read(cursor, "a".repeat(20))).isTrue();
        assertThatThrownBy(() -> read(cursor, "a".repeat(1000)))
                .isInstanceOf(BadInput.class)
                .hasMessage(
                        "the grammar is too ambiguous: a text has more than 50 parses at the same time (the limit)");
    }

    @Test
    void mask_of_a_known_state_allocates_nothing() {
        CompiledGrammar compiled = compile(lists(), trie("\",\"", "abc", "],["));
        GrammarCursor cursor = compiled.newCursor();
        TokenMask mask = compiled.newMask();
        byte[] text = "[\"abc\",[12,[]],\"d\"]".getBytes(StandardCharsets.UTF_8);
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 20; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (byte value : text) {
                cursor.mask(mask);
                cursor.advance(value);
            }
            cursor.rollback(text.length);
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertThat(least).isZero();
    }

    @Test
    void cursors_of_several_threads_agree() throws Exception {
        TokenTrie trie = trie("\",\"", "abc", "],[", "[[", "é", "\"]");
        GrammarLimits limits = new GrammarLimits(1000, 60_000, 1000, Long.MAX_VALUE);
        CompiledGrammar shared = CompiledGrammar.compile(lists(), trie, limits);
        Callable<List<List<Integer>>> reading = () -> {
            GrammarCursor cursor = shared.newCursor();
            List<List<Integer>> masks = new ArrayList<>();
            for (byte value : "[[[[\"abcé\",[12,[]],\"d\"],7]],\"\",[[[[[1]]]]]]".getBytes(StandardCharsets.UTF_8)) {
                masks.add(allowed(shared, cursor));
                assertThat(cursor.advance(value & 0xFF)).isTrue();
            }
            return masks;
        };
        List<List<Integer>> expected = reading.call();
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            List<Future<List<List<Integer>>>> results = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                results.add(threads.submit(reading));
            }
            for (Future<List<List<Integer>>> result : results) {
                assertThat(result.get()).isEqualTo(expected);
            }
        }
    }

    private static int likely(Grammar grammar, TokenTrie trie) {
        CompiledGrammar compiled = compile(grammar, trie);
        GrammarCursor cursor = compiled.newCursor();
        TokenMask mask = compiled.newMask();
        cursor.mask(mask);
        return cursor.likelyToken(mask);
    }

    @Test
    void likely_token_is_the_longest_that_all_allowed_ones_begin_with_or_are_part_of() {
        TokenTrie trie = trie("ab", "abcd", "abc", "abx", "bc");
        assertThat(likely(Grammar.regex("abcdef"), trie)).as("abcd").isEqualTo(257);
        assertThat(likely(Grammar.regex("ab[cx]def"), trie)).as("ab").isEqualTo(256);
        assertThat(likely(Grammar.regex("[ab]c"), trie)).isEqualTo(TokenMask.NONE);
    }

    @Test
    void no_token_is_likely_if_the_text_may_end() {
        assertThat(likely(Grammar.regex("(abc)?"), trie())).isEqualTo(TokenMask.NONE);
    }

    @Test
    void no_token_is_likely_if_more_are_allowed_than_are_compared() {
        Grammar grammar = Grammar.regex("a{50}");
        String[] all = IntStream.rangeClosed(2, 33).mapToObj("a"::repeat).toArray(String[]::new);
        assertThat(likely(grammar, trie(Arrays.copyOf(all, 31)))).isEqualTo(256 + 30);
        assertThat(likely(grammar, trie(all))).isEqualTo(TokenMask.NONE);
    }

    @Test
    void no_token_is_likely_if_a_special_one_and_a_text_are_allowed() {
        byte[][] tokens = new byte[257][];
        for (int i = 0; i < 256; i++) {
            tokens[i] = new byte[] {(byte) i};
        }
        TokenTrie trie = TokenTrie.of(TokenVocabulary.of(tokens, Map.of("<s>", 256)));
        assertThat(likely(Grammar.lark("start: <s> | \"a\""), trie)).isEqualTo(TokenMask.NONE);
        assertThat(likely(Grammar.lark("start: <s>"), trie)).isEqualTo(256);
    }
}
