package io.roseinfer.engine;

import io.roseinfer.scheduler.policy.AdmissionPolicy;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Checks the guarantees of routing by pull under a {@link Weaver}. No request waits while a replica is idle, and a
 * single live replica admits in order of arrival, including requeued requests. It runs on the engine's threads, where a
 * failed check would stop a replica, so the first violation is kept for the end of the run.
 */
final class PullCheck {
    /** Steps that a busy replica may start before it wakes an idle one or admits its own requests. */
    private static final int MAX_STEPS = 3;

    private final Weaver weaver;
    private final Engine engine;
    private final List<Call> calls;
    private final boolean ordered;
    private final boolean tokenizesLater;
    /** Requests that the last replica may have admitted before the others requeued theirs. */
    private final int maxTaken;

    /** Steps that each replica has started while a call waits and every idle replica is parked. */
    private final int[] steps;

    private Optional<String> violation = Optional.empty();

    /**
     * Creates a check.
     *
     * @param calls all calls, in the order in which they began
     */
    PullCheck(Weaver weaver, Engine engine, EngineOptions options, List<Call> calls) {
        this.weaver = weaver;
        this.engine = engine;
        this.calls = calls;
        this.ordered = options.scheduler().admission() instanceof AdmissionPolicy.Fifo;
        this.tokenizesLater = options.tokenizeWorkers() > 0;
        this.steps = new int[engine.loads().size()];
        this.maxTaken = options.scheduler().prefillMaxBatchSize();
    }

    /** Records that a replica admits a call, and checks that no earlier call waits. */
    void admitted(Call call, int replica) {
        Weaver.mute(1);
        try {
            if (ordered && replicas().allMatch(other -> other == replica || hasLeft(other))) {
                calls.stream()
                        .filter(other -> waits(other) && other.isAcceptedBefore(call.begun()))
                        .forEach(other -> {
                            if (other.skip() > maxTaken) {
                                broken(other + " waits, and " + call + ", which came later, is admitted");
                            }
                        });
            }
            call.admittedBy(replica);
        } finally {
            Weaver.mute(-1);
        }
    }

    /**
     * Checks, when a replica starts a step, that no call waits next to an idle replica. A replica that has started few
     * steps meanwhile may be about to admit the call, however many the others have started.
     */
    void stepBegins(int replica) {
        Weaver.mute(1);
        try {
            List<String> idle =
                    replicas().filter(this::isIdle).mapToObj(PullCheck::thread).toList();
            Optional<Call> waiting = calls.stream().filter(this::waits).findFirst();
            if (waiting.isEmpty() || idle.isEmpty() || !idle.stream().allMatch(weaver::isParked)) {
                Arrays.fill(steps, 0);
                return;
            }
            steps[replica]++;
            if (replicas().filter(this::isBusy).allMatch(busy -> steps[busy] > MAX_STEPS)) {
                broken(waiting.get() + " waits although a replica is idle");
            }
        } finally {
            Weaver.mute(-1);
        }
    }

    /** Returns the first violation. */
    Optional<String> violation() {
        return violation;
    }

    private void broken(String what) {
        violation = violation.or(() -> Optional.of("point " + weaver.now() + ": " + what));
    }

    private IntStream replicas() {
        return IntStream.range(0, steps.length);
    }

    private boolean isIdle(int replica) {
        return serves(replica) && engine.loads().get(replica).requests() == 0;
    }

    private boolean isBusy(int replica) {
        return serves(replica) && engine.loads().get(replica).requests() > 0;
    }

    private boolean serves(int replica) {
        return !hasLeft(replica) && engine.failure(replica).isEmpty();
    }

    /** Returns whether a call is in no live replica only because none has admitted it. */
    private boolean waits(Call call) {
        return call.isAccepted()
                && !call.isClosed()
                && !call.hasEnded()
                && call.request().options().timeout().isEmpty()
                && !(tokenizesLater && call.request().prompt() instanceof Prompt.Text)
                && call.admittedBy().stream().allMatch(this::hasLeft);
    }

    /** Returns whether a replica has failed and requeued its requests. */
    private boolean hasLeft(int replica) {
        return weaver.isOver(thread(replica));
    }

    private static String thread(int replica) {
        return replica == 0 ? "roseinfer-engine" : "roseinfer-engine-" + replica;
    }
}
