package io.roseinfer.bench.replay;

import io.roseinfer.base.SplitMix64;
import java.util.List;

/**
 * Durations outside of steps in nanoseconds. Lists are samples to draw from; an empty list means no time.
 *
 * @param iterationNanos time between two steps while the engine has work
 * @param wakeNanos time from a request's arrival at an idle engine until its step starts
 * @param arriving time from sending a request until it is queued
 * @param first time from the engine's first token of a request until the client has it
 * @param later the same for later tokens
 */
public record HostTimes(long iterationNanos, long wakeNanos, List<Long> arriving, List<Long> first, List<Long> later) {
    /** No time outside of steps. */
    public static final HostTimes NONE = new HostTimes(0, 0, List.of(), List.of(), List.of());

    public HostTimes {
        arriving = List.copyOf(arriving);
        first = List.copyOf(first);
        later = List.copyOf(later);
    }

    /** Returns a random sample, determined by the key. */
    static long draw(List<Long> samples, long key) {
        return samples.isEmpty() ? 0 : samples.get((int) (SplitMix64.uniform(key, 0) * samples.size()));
    }
}
