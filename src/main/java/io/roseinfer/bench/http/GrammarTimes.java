package io.roseinfer.bench.http;

import io.roseinfer.metrics.Distribution;
import io.roseinfer.metrics.Summary;
import io.roseinfer.metrics.ValueCounts;
import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import java.util.Optional;

/**
 * The time that an engine in this process spent on the grammars of a run, including requests that a trimmed result omits.
 *
 * @param compileMillis for each restricted request, the time to compile its grammar, or to find it in the cache, and to compute its first
 *     mask
 * @param maskMicros the time to compute each further mask, with drafts including those after tokens that the grammar fixes
 */
public record GrammarTimes(Summary compileMillis, Summary maskMicros) {

    /** Records the times as an observer of the engine. Thread-safe. */
    public static final class Recorder implements RequestObserver {
        /** Bits of the times in milliseconds. */
        private final ValueCounts compile = new ValueCounts();
        /** Bits of the times in microseconds. */
        private final ValueCounts mask = new ValueCounts();

        @Override
        public void on(RequestEvent event) {
            // The engine's thread reports other events, and never waits for the lock.
            if (event instanceof RequestEvent.GrammarCompiled compiled) {
                compiled(compiled.nanos());
            }
        }

        private synchronized void compiled(long nanos) {
            compile.add(Double.doubleToLongBits(nanos / 1e6));
        }

        @Override
        public synchronized void maskComputed(ObservedRequest request, long nanos) {
            mask.add(Double.doubleToLongBits(nanos / 1e3));
        }

        /** Returns the times so far; empty if no request had a grammar. */
        public synchronized Optional<GrammarTimes> times() {
            return compile.size() == 0
                    ? Optional.empty()
                    : Optional.of(new GrammarTimes(
                            Summary.of(Distribution.ofBits(compile)), Summary.of(Distribution.ofBits(mask))));
        }
    }
}
