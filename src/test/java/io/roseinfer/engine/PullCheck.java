package io.roseinfer.engine;

import io.roseinfer.scheduler.policy.AdmissionPolicy;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Checks what routing by pull promises of the calls of an engine under a {@link Weaver}: no request waits while a replica is idle, and a
 * replica that is left alone admits in the order of arrival, also requests that another gave back. Looks on from the engine's threads,
 * where a failed check would end a replica, so the first violation is kept for the end of the run.
 */
final class PullCheck {
    /** Steps of other replicas that may begin while one that was woken is on its way. */
    private static final int MAX_STEPS = 3;

    private final Weaver weaver;
    private final Engine engine;
    private final List<Call> calls;
    private final boolean ordered;
    private final boolean tokenizesLater;
    /** Requests that the last replica may have taken before the others gave theirs back. */
    private final int maxTaken;

    private int stepsBesideIdle;
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
        this.maxTaken = options.scheduler().prefillMaxBatchSize();
    }

    /** Notes that a replica admits a call, and checks that none waits that came before. */
    void admitted(Call call, int replica) {
        Weaver.mute(1);
        try {
            if (ordered && IntStream.range(0, replicas()).allMatch(other -> other == replica || hasLeft(other))) {
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

    /** Checks, as a replica begins a step, that no other has long been idle beside a call that waits. */
    void stepBegins() {
        Weaver.mute(1);
        try {
            List<String> idle = IntStream.range(0, replicas())
                    .filter(this::isIdle)
                    .mapToObj(PullCheck::thread)
                    .toList();
            boolean asleep = !idle.isEmpty() && idle.stream().allMatch(weaver::isBlocked);
            Optional<Call> waiting = calls.stream().filter(this::waits).findFirst();
            stepsBesideIdle = asleep && waiting.isPresent() ? stepsBesideIdle + 1 : 0;
            if (stepsBesideIdle > MAX_STEPS) {
                broken(waiting.orElseThrow() + " waits beside an idle replica");
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

    private int replicas() {
        return engine.loads().size();
    }

    private boolean isIdle(int replica) {
        return !hasLeft(replica)
                && engine.failure(replica).isEmpty()
                && engine.loads().get(replica).requests() == 0;
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
