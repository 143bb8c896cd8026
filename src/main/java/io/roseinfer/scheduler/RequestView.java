package io.roseinfer.scheduler;

import io.roseinfer.sampling.TokenHistory;
import io.roseinfer.scheduler.policy.PolicyRequest;
import io.roseinfer.scheduler.policy.RunningRequest;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A sequence as policies see it: they can change nothing through it. Views of the same request are equal. */
abstract sealed class RequestView implements PolicyRequest {
    final Sequence sequence;

    private RequestView(Sequence sequence) {
        this.sequence = sequence;
    }

    /** A sequence that waits. */
    static final class Waiting extends RequestView implements WaitingRequest {
        Waiting(Sequence sequence) {
            super(sequence);
        }

        @Override
        public int cachedLength() {
            if (!sequence.table().hasPool()) {
                throw new ExtensionFailure.Misuse("uses cachedLength of a request that no replica has ranked");
            }
            return sequence.cachedLength();
        }

        @Override
        public int remainingTokens() {
            return sequence.remaining() - sequence.computedElsewhere;
        }

        @Override
        public int timesPassedOver() {
            return sequence.timesPassedOver;
        }

        @Override
        public boolean isRestart() {
            return sequence.isRestart();
        }
    }

    /** A sequence that holds KV blocks. */
    static final class Running extends RequestView implements RunningRequest {
        Running(Sequence sequence) {
            super(sequence);
        }

        @Override
        public int heldBlocks() {
            return sequence.table().size();
        }

        @Override
        public long lastTokenNanos() {
            return sequence.lastTokenNanos;
        }

        @Override
        public int remainingTokens() {
            return sequence.remaining();
        }
    }

    /** The tokens of a sequence, as drafters see them. */
    static final class Tokens implements TokenHistory {
        private final Sequence sequence;

        Tokens(Sequence sequence) {
            this.sequence = sequence;
        }

        @Override
        public int promptLength() {
            return sequence.promptLength();
        }

        @Override
        public int length() {
            return sequence.length();
        }

        @Override
        public int token(int index) {
            return sequence.token(Objects.checkIndex(index, sequence.length()));
        }
    }

    @Override
    public long id() {
        return sequence.id();
    }

    @Override
    public int replica() {
        return sequence.scheduler();
    }

    @Override
    public long arrival() {
        return sequence.arrival;
    }

    @Override
    public long arrivalNanos() {
        return sequence.traits().arrivalNanos();
    }

    @Override
    public long arrivalStep() {
        return sequence.arrivalStep;
    }

    @Override
    public long deadlineNanos() {
        return sequence.traits().deadlineNanos();
    }

    @Override
    public int priority() {
        return sequence.traits().priority();
    }

    @Override
    public String tenant() {
        return sequence.traits().tenant();
    }

    @Override
    public Optional<Object> tag() {
        return sequence.traits().tag();
    }

    @Override
    public int promptLength() {
        return sequence.promptLength();
    }

    @Override
    public int length() {
        return sequence.length();
    }

    @Override
    public int remainingNewTokens() {
        return sequence.maxLength() - sequence.length();
    }

    @Override
    public int predictedNewTokens() {
        return sequence.predictedNewTokens();
    }

    @Override
    public int preemptions() {
        return sequence.preemptions();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof RequestView view && view.id() == id();
    }

    @Override
    public int hashCode() {
        return Long.hashCode(id());
    }

    @Override
    public String toString() {
        return "request " + id();
    }
}
