package io.roseinfer.backend.cpu;

import io.roseinfer.backend.Operator;
import io.roseinfer.base.Clock;
import java.util.Arrays;

/** One worker's time in a step, by operator: {@link #end} attributes the time since the previous call to an operator. */
sealed interface OperatorTimes {
    /** Notes nothing. */
    OperatorTimes OFF = new Off();

    /** Attributes the time since the previous call to this operator, which has ended. */
    void end(Operator operator);

    /** Costs a call that the compiler removes. */
    final class Off implements OperatorTimes {
        private Off() {}

        @Override
        public void end(Operator operator) {}
    }

    /** Reads the clock once per call. */
    final class Recorded implements OperatorTimes {
        /** Keeps what two workers write out of one cache line. */
        private static final int PADDING = 16;

        private final Clock clock;
        private final long[] nanos = new long[PADDING + Operator.values().length + PADDING];
        private final int[] calls = new int[PADDING + Operator.values().length + PADDING];
        private long lastNanos;

        Recorded(Clock clock) {
            this.clock = clock;
        }

        /** A step begins. */
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

        /** When the last operator ended. */
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
