package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.TokenMask;
import io.roseinfer.grammar.CompiledGrammar;
import io.roseinfer.grammar.Grammar;
import io.roseinfer.grammar.GrammarLimits;
import io.roseinfer.grammar.TokenTrie;
import io.roseinfer.grammar.TokenVocabulary;
import io.roseinfer.observe.Observers;
import io.roseinfer.sampling.LogitConstraints;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GrammarMasksTest {
    private static final int END = 256;

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
        byte[][] bytes = new byte[END + 1][];
        for (int i = 0; i < END; i++) {
            bytes[i] = new byte[] {(byte) i};
        }
        TokenTrie trie = TokenTrie.of(TokenVocabulary.of(bytes, Map.of()));
        CompiledGrammar grammar =
                CompiledGrammar.compile(Grammar.regex(regex), trie, GrammarLimits.DEFAULT, Clock.system());
        GrammarMasks masks =
                new GrammarMasks(new GrammarMasks.Terms(request, grammar, new int[] {END}, Optional.empty(), workers));
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
        Received received = new Received();
        masks.apply(received);
        return received.mask;
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
        GrammarMasks again = (GrammarMasks) masks.restart();
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
                masks.apply(received);
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertThat(least).isZero();
    }
}
