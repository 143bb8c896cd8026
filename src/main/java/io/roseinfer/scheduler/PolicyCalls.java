package io.roseinfer.scheduler;

import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.CachedBlock;
import io.roseinfer.scheduler.policy.EvictionPolicy;
import io.roseinfer.scheduler.policy.Policies;
import io.roseinfer.scheduler.policy.PreemptionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.RequestEvents;
import io.roseinfer.scheduler.policy.RunningRequest;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Calls the policies that schedulers may share: one thread at a time, under the waiting queue's lock. The exceptions of
 * policies are {@link ExtensionFailure}s.
 */
final class PolicyCalls {
    private final RequestEvents[] listeners;
    private final Object lock;
    private volatile @Nullable RuntimeException failure;

    PolicyCalls(Policies policies, Object lock) {
        this.listeners = listeners(policies).toArray(RequestEvents[]::new);
        this.lock = lock;
    }

    /** Returns the policies that are notified of events, each once, in the order of the calls. */
    static List<RequestEvents> listeners(Policies policies) {
        Set<Object> distinct = Collections.newSetFromMap(new IdentityHashMap<>());
        return Stream.of(policies.admission(), policies.preemption(), policies.eviction(), policies.step())
                .filter(RequestEvents.class::isInstance)
                .filter(distinct::add)
                .map(RequestEvents.class::cast)
                .toList();
    }

    /** Returns how many waiting requests a policy ranks. */
    int lookahead(AdmissionPolicy policy) {
        try {
            synchronized (lock) {
                int lookahead = policy.lookahead();
                if (lookahead < 1) {
                    throw new ExtensionFailure.Misuse(
                            "returned a lookahead of " + lookahead + "; it must be at least 1");
                }
                return lookahead;
            }
        } catch (Throwable thrown) {
            throw ExtensionFailure.ofAdmission(policy, thrown);
        }
    }

    /** Returns which of two running requests a policy preempts. */
    Sequence victim(PreemptionPolicy policy, Sequence one, Sequence other, QueueView queue) {
        try {
            RunningRequest victim;
            synchronized (lock) {
                victim = policy.victim(one.running, other.running, queue);
            }
            Sequence chosen = victim instanceof RequestView view ? view.sequence : null;
            if (chosen != one && chosen != other) {
                throw new ExtensionFailure.Misuse("chose neither of two requests");
            }
            return chosen == one ? one : other;
        } catch (Throwable thrown) {
            throw ExtensionFailure.ofPreemption(policy, thrown);
        }
    }

    /** Returns the rank of a released block. A failure is kept, as half of a request's blocks would remain held. */
    long rank(EvictionPolicy policy, CachedBlock block, QueueView queue) {
        try {
            synchronized (lock) {
                return policy.rank(block, queue);
            }
        } catch (Throwable thrown) {
            keep(ExtensionFailure.ofEviction(policy, thrown));
            return 0;
        }
    }

    /** Notifies of an evicted block. A failure is kept, as the block is not yet in a table. */
    void evicted(EvictionPolicy policy, long rank) {
        try {
            synchronized (lock) {
                policy.evicted(rank);
            }
        } catch (Throwable thrown) {
            keep(ExtensionFailure.ofEviction(policy, thrown));
        }
    }

    /**
     * Throws the failure of a policy that threw during an event or a release, if there is one. It is kept until then, because events are
     * also sent by threads that the policy must not fail.
     */
    void requireNoFailure() {
        RuntimeException seen = failure;
        if (seen != null) {
            throw seen;
        }
    }

    void arrived(Sequence sequence) {
        notify(Event.ARRIVED, sequence, 0, 0);
    }

    void admitted(Sequence sequence, int cachedTokens) {
        notify(Event.ADMITTED, sequence, cachedTokens, 0);
    }

    void stepped(Sequence sequence, int computedTokens, int newTokens) {
        notify(Event.STEPPED, sequence, computedTokens, newTokens);
    }

    void preempted(Sequence sequence) {
        notify(Event.PREEMPTED, sequence, 0, 0);
    }

    void ended(Sequence sequence) {
        notify(Event.ENDED, sequence, 0, 0);
    }

    private enum Event {
        ARRIVED,
        ADMITTED,
        STEPPED,
        PREEMPTED,
        ENDED
    }

    private void notify(Event event, Sequence sequence, int tokens, int newTokens) {
        if (listeners.length == 0) {
            return;
        }
        synchronized (lock) {
            for (RequestEvents listener : listeners) {
                try {
                    notify(listener, event, sequence, tokens, newTokens);
                } catch (Throwable thrown) {
                    keep(ExtensionFailure.ofEvents(listener, thrown));
                }
            }
        }
    }

    private static void notify(RequestEvents to, Event event, Sequence sequence, int tokens, int newTokens) {
        switch (event) {
            case ARRIVED -> to.arrived(sequence.waiting);
            case ADMITTED -> to.admitted(sequence.running, tokens);
            case STEPPED -> to.stepped(sequence.running, tokens, newTokens);
            case PREEMPTED -> to.preempted(sequence.waiting);
            case ENDED -> to.ended(sequence.view());
        }
    }

    private void keep(RuntimeException first) {
        if (failure == null) {
            failure = first;
        }
    }
}
