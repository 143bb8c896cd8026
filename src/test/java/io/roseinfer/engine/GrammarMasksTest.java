package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.TokenMask;
import io.roseinfer.grammar.CompiledGrammar;
import io.roseinfer.grammar.Expression;
import io.roseinfer.grammar.Grammar;
import io.roseinfer.grammar.GrammarLimits;
import io.roseinfer.grammar.TokenTrie;
import io.roseinfer.grammar.TokenVocabulary;
import io.roseinfer.observe.Observers;
import io.roseinfer.sampling.LogitConstraints;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GrammarMasksTest {
    private static final int END = 256;
    private static final int SPECIAL = 257;

    private final MaskWorkers workers = new MaskWorkers(2, Clock.system(), Observers.NONE.requests());
    private final MaskSignals signals = new MaskSignals();
    private final LiveRequest request = new LiveRequest(0, Models.request(10, 1), 0, Models.CONTEXT, Optional.empty());

    /** Receives the mask of a sample. */
    private static final class Received implements LogitConstraints.Target {
        private TokenMask mask = new TokenMask(0);

        @Override
        public void mask(TokenMask value) {
            mask = value;
        }

        @Override
        public void bias(int token, float bias) {}
    }

    @BeforeEach
    void start() {
        workers.start();
    }

    @AfterEach
    void stop() {
        workers.stop();
    }

    /** Returns the masks of a grammar over single bytes and an end-of-text token. */
    private GrammarMasks masks(String regex) {
        return masks(regex, 0);
    }

    private GrammarMasks masks(String regex, int maxLikely) {
        return masks(Grammar.regex(regex), GrammarLimits.DEFAULT, maxLikely);
    }

    private GrammarMasks masks(Grammar grammar, GrammarLimits limits, int maxLikely) {
        byte[][] bytes = new byte[SPECIAL + 1][];
        for (int i = 0; i < END; i++) {
            bytes[i] = new byte[] {(byte) i};
        }
        TokenTrie trie = TokenTrie.of(TokenVocabulary.of(bytes, Map.of("<s>", SPECIAL)));
        CompiledGrammar compiled = CompiledGrammar.compile(grammar, trie, limits);
        GrammarMasks masks = new GrammarMasks(
                new GrammarMasks.Terms(request, compiled, new int[] {END}, Optional.empty(), maxLikely, workers));
        masks.reportTo(signals);
        return masks;
    }

    private void append(GrammarMasks masks, int token) {
        masks.append(token);
        while (signals.arePending()) {
            signals.await(true);
        }
    }

    private static TokenMask mask(GrammarMasks masks) {
        return mask(masks, 0);
    }

    private static TokenMask mask(GrammarMasks masks, int ahead) {
        Received received = new Received();
        masks.apply(ahead, received);
        return received.mask;
    }

    /** Returns the likely tokens as a text. */
    private static String likely(GrammarMasks masks, int max) {
        int[] into = new int[max];
        return new String(into, 0, masks.likelyTokens(max, into));
    }

    @Test
    void likely_tokens_end_where_there_is_a_choice_or_the_text_is_complete() {
        GrammarMasks masks = masks("x[ab]yzw[ab]?c", 4);
        assertThat(likely(masks, 4)).isEqualTo("x");
        append(masks, 'x');
        assertThat(masks.isReady()).isTrue();
        assertThat(likely(masks, 4)).isEmpty();
        append(masks, 'a');
        assertThat(likely(masks, 4)).isEqualTo("yzw");
        assertThat(likely(masks, 2)).isEqualTo("yz");
        assertThat(mask(masks, 1).allows('z')).isTrue();
        assertThat(mask(masks, 1).allows('y')).isFalse();
        assertThat(mask(masks, 3).allows('c')).isTrue();
        append(masks, 'y');
        assertThat(likely(masks, 4)).isEqualTo("zw");
        assertThat(mask(masks, 2).allows('b')).isTrue();
        append(masks, 'z');
        append(masks, 'w');
        assertThat(likely(masks, 4)).isEmpty();
        append(masks, 'b');
        assertThat(likely(masks, 4)).as("c completes the text").isEmpty();
        assertThat(mask(masks).allows('c')).isTrue();
        append(masks, 'c');
        assertThat(signals.pollEnded()).isSameAs(request);
        assertThat(masks.failure()).isEmpty();
    }

    @Test
    void as_many_likely_tokens_are_found_as_there_may_be_drafts() {
        GrammarMasks masks = masks("abcdefgh", 3);
        assertThat(likely(masks, 15)).isEqualTo("abc");
        assertThat(mask(masks, 3).allows('d')).isTrue();
        append(masks, 'a');
        append(masks, 'b');
        append(masks, 'c');
        assertThat(likely(masks, 15)).as("until the masks are computed").isEmpty();
        append(masks, 'd');
        assertThat(likely(masks, 15)).isEqualTo("efg");
    }

    @Test
    void wrong_token_in_place_of_a_likely_one_fails_the_request() {
        GrammarMasks masks = masks("abcd", 3);
        append(masks, 'a');
        append(masks, 'x');
        assertThat(signals.pollEnded()).isSameAs(request);
        assertThat(masks.failure()).get().isInstanceOf(EngineStopped.class);
    }

    /** After the special token there are as many parses as rules. */
    @Test
    void limit_exceeded_after_a_likely_token_fails_once_it_has_been_appended() {
        Map<String, Expression> rules = new HashMap<>();
        List<Expression> all = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            String rule = "r" + i;
            all.add(Expression.reference(rule));
            rules.put(
                    rule,
                    Expression.choice(
                            Expression.sequence(
                                    Expression.literal("("), Expression.reference(rule), Expression.literal(")")),
                            Expression.literal("x" + i)));
        }
        rules.put("root", Expression.sequence(new Expression.TokenReference("<s>"), Expression.choice(all)));
        GrammarLimits limits = new GrammarLimits(20, 1 << 20, 1000, 100_000);
        GrammarMasks masks = masks(new Grammar("root", rules), limits, 3);
        assertThat(mask(masks).allows(SPECIAL)).isTrue();
        assertThat(masks.likelyTokens(3, new int[3])).isZero();
        append(masks, SPECIAL);
        assertThat(signals.pollEnded()).isSameAs(request);
        assertThat(masks.failure()).get().isInstanceOf(BadInput.class);
    }

    @Test
    void end_is_allowed_where_the_text_may_end() {
        GrammarMasks masks = masks("a+b");
        assertThat(mask(masks).allows(END)).isFalse();
        append(masks, 'a');
        assertThat(masks.isReady()).isTrue();
        assertThat(mask(masks).allows('b')).isTrue();
        assertThat(mask(masks).allows(END)).isFalse();
        GrammarMasks optional = masks("a*");
        assertThat(mask(optional).allows(END)).isTrue();
    }

    @Test
    void complete_text_ends_the_request() {
        GrammarMasks masks = masks("ab");
        append(masks, 'a');
        assertThat(signals.pollEnded()).isNull();
        append(masks, 'b');
        assertThat(masks.isReady()).isFalse();
        assertThat(masks.failure()).isEmpty();
        assertThat(signals.pollEnded()).isSameAs(request);
        assertThat(signals.pollEnded()).isNull();
    }

    @Test
    void failure_ends_the_request_with_its_cause() {
        GrammarMasks masks = masks("ab");
        append(masks, 'x');
        assertThat(signals.pollEnded()).isSameAs(request);
        assertThat(masks.failure()).get().isInstanceOf(EngineStopped.class);
    }

    @Test
    void restart_begins_before_the_first_token() {
        GrammarMasks masks = masks("ab");
        append(masks, 'a');
        GrammarMasks again = masks.restart();
        assertThat(again.isReady()).isTrue();
        assertThat(mask(again).allows('a')).isTrue();
        assertThat(mask(again).allows('b')).isFalse();
        assertThat(mask(masks).allows('b')).isTrue();
    }

    @Test
    void engine_thread_allocates_nothing_for_known_states() {
        GrammarMasks masks = masks("([a-z]{2}[0-9])*");
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        Received received = new Received();
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 50; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 30; i++) {
                append(masks, i % 3 == 2 ? '7' : 'q');
                masks.apply(0, received);
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertThat(least).isZero();
    }

    @Test
    void text_that_may_end_can_go_on() {
        GrammarMasks masks = masks("[a-z]+", 3);
        for (int i = 0; i < 3; i++) {
            append(masks, 'a');
            assertThat(signals.pollEnded()).isNull();
            assertThat(masks.isReady()).isTrue();
            assertThat(mask(masks).allows('b')).isTrue();
            assertThat(mask(masks).allows(END)).isTrue();
        }
    }
}
