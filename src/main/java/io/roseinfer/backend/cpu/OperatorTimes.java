package io.roseinfer.backend.cpu;

import io.roseinfer.backend.Operator;
import io.roseinfer.base.Clock;
import java.util.Arrays;

/** A worker's time per operator in a step: {@link #end} attributes the time since the previous call. */
sealed interface OperatorTimes {
    /** Records nothing. */
    OperatorTimes OFF = new Off();

    /** Ends an operator and attributes the time since the previous call to it. */
    void end(Operator operator);

    /** Records nothing; JIT-compiled away. */
    final class Off implements OperatorTimes {
        private Off() {}

        @Override
        public void end(Operator operator) {}
    }

    /** Reads the clock once per call. */
    final class Recorded implements OperatorTimes {
        /** Avoids false sharing between workers. */
        private static final int PADDING = 16;

        private final Clock clock;
        private final long[] nanos = new long[PADDING + Operator.values().length + PADDING];
        private final int[] calls = new int[PADDING + Operator.values().length + PADDING];
        private long lastNanos;

        Recorded(Clock clock) {
            this.clock = clock;
        }

        /** Begins a step. */
        void begin(long nowNanos) {
            Arrays.fill(nanos, 0);
            Arrays.fill(calls, 0);
            lastNanos = nowNanos;
        }

        @Override
        public void end(Operator operator) {
            long nowNanos = clock.nanos();
            nanos[PADDING + operator.ordinal()] += nowNanos - lastNanos;
            calls[PADDING + operator.ordinal()]++;
            lastNanos = nowNanos;
        }

        /** Returns when the last operator ended. */
        long lastNanos() {
            return lastNanos;
        }

        long nanos(Operator operator) {
            return nanos[PADDING + operator.ordinal()];
        }

        int calls(Operator operator) {
            return calls[PADDING + operator.ordinal()];
        }
    }
}
