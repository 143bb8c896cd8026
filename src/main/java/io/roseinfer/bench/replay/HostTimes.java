package io.roseinfer.bench.replay;

import io.roseinfer.base.SplitMix64;
import java.util.List;

/**
 * What happens to requests outside of steps, in nanoseconds. Lists are samples that are drawn from; an empty one is no time at all.
 *
 * @param turnNanos from the end of a step until the next one begins, where the engine has something to do
 * @param wakeNanos from a request's arrival in the queue of an idle engine until its step begins
 * @param arriving from when the client sends until the request is in the queue
 * @param first from when the engine has a request's first token until the client has it
 * @param later the same of the other tokens
 */
public record HostTimes(long turnNanos, long wakeNanos, List<Long> arriving, List<Long> first, List<Long> later) {
    /** None. */
    public static final HostTimes NONE = new HostTimes(0, 0, List.of(), List.of(), List.of());

    public HostTimes {
        arriving = List.copyOf(arriving);
        first = List.copyOf(first);
        later = List.copyOf(later);
    }

    /** One of some samples; the same key draws the same one. */
    static long draw(List<Long> samples, long key) {
        return samples.isEmpty() ? 0 : samples.get((int) (SplitMix64.uniform(key, 0) * samples.size()));
    }
}
