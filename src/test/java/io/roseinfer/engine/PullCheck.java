package io.roseinfer.engine;

import io.roseinfer.scheduler.policy.AdmissionPolicy;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Checks what routing by pull promises of the calls of an engine under a {@link Weaver}: no request waits while a replica is idle, and a
 * replica that is left alone admits in the order of arrival, also requests that another gave back. Looks on from the engine's threads,
 * where a failed check would end a replica, so the first violation is kept for the end of the run.
 */
final class PullCheck {
    /** Steps that a busy replica may begin before it wakes an idle one, or admits what it has taken itself. */
    private static final int MAX_STEPS = 3;

    private final Weaver weaver;
    private final Engine engine;
    private final List<Call> calls;
    private final boolean ordered;
    private final boolean tokenizesLater;
    /** Requests that the last replica may have taken before the others gave theirs back. */
    private final int maxTaken;

    /** The steps that each replica has begun since a call waits and every idle replica sleeps. */
    private final int[] steps;

    private Optional<String> violation = Optional.empty();

    /**
     * A check that has seen nothing.
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

    /** Notes that a replica admits a call, and checks that none waits that came before. */
    void admitted(Call call, int replica) {
        Weaver.mute(1);
        try {
            if (ordered && replicas().allMatch(other -> other == replica || hasLeft(other))) {
                calls.stream()
                        .filter(other -> waits(other) && other.isAcceptedBefore(call.begun()))
                        .forEach(other -> {
                            if (other.passOver() > maxTaken) {
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
     * Checks, as a replica begins a step, that no call waits beside an idle replica. One that has begun few steps since may be about to
     * admit the call, however many the others have begun.
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
                broken(waiting.get() + " waits beside an idle replica");
            }
        } finally {
            Weaver.mute(-1);
        }
    }

    /** The first violation. */
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

    /** Whether a call is in no replica that lives, for no reason but that none has admitted it. */
    private boolean waits(Call call) {
        return call.isAccepted()
                && !call.isClosed()
                && !call.hasEnded()
                && call.request().terms().timeout().isEmpty()
                && !(tokenizesLater && call.request().prompt() instanceof Prompt.Text)
                && call.admittedBy().stream().allMatch(this::hasLeft);
    }

    /** Whether a replica is dead and has given back what it had. */
    private boolean hasLeft(int replica) {
        return weaver.isOver(thread(replica));
    }

    private static String thread(int replica) {
        return replica == 0 ? "roseinfer-engine" : "roseinfer-engine-" + replica;
    }
}
