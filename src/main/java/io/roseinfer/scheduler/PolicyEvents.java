package io.roseinfer.scheduler;

import io.roseinfer.scheduler.policy.Policies;
import io.roseinfer.scheduler.policy.RequestEvents;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Notifies policies of the events of requests. Thread-safe: every call holds the lock. An exception of a policy is
 * kept for {@link #requireNone}, because events are also sent by threads that the policy must not fail.
 */
final class PolicyEvents {
    private final RequestEvents[] listeners;
    private final Object lock;
    private volatile @Nullable RuntimeException failure;

    /** Finds the policies that implement {@link RequestEvents}. */
    PolicyEvents(Policies policies, Object lock) {
        Set<Object> distinct = Collections.newSetFromMap(new IdentityHashMap<>());
        this.listeners = Stream.of(policies.admission(), policies.preemption(), policies.step())
                .filter(RequestEvents.class::isInstance)
                .filter(distinct::add)
                .map(RequestEvents.class::cast)
                .toArray(RequestEvents[]::new);
        this.lock = lock;
    }

    /** Throws the failure of a policy that threw during an event, if there is one. */
    void requireNone() {
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
                    keep(PolicyFailure.ofEvents(listener, thrown));
                }
            }
        }
    }

    private static void notify(RequestEvents to, Event event, Sequence sequence, int tokens, int newTokens) {
        switch (event) {
            case ARRIVED -> to.arrived(sequence);
            case ADMITTED -> to.admitted(sequence, tokens);
            case STEPPED -> to.stepped(sequence, tokens, newTokens);
            case PREEMPTED -> to.preempted(sequence);
            case ENDED -> to.ended(sequence);
        }
    }

    private void keep(RuntimeException first) {
        if (failure == null) {
            failure = first;
        }
    }
}
