/**
 * Comparisons of runs: {@link io.roseinfer.bench.compare.RateSearch} and {@link io.roseinfer.bench.compare.Sweep} for the points of a
 * sweep, {@link io.roseinfer.bench.compare.PairedRatio} and {@link io.roseinfer.bench.compare.Comparison} for pairs of two arms.
 *
 * <p>Invariant: everything here is deterministic arithmetic on metrics of runs.
 */
@NullMarked
package io.roseinfer.bench.compare;

import org.jspecify.annotations.NullMarked;
