/**
 * Runs held against each other: {@link io.roseinfer.bench.compare.RateSearch} and {@link io.roseinfer.bench.compare.Sweep} over the points
 * of a sweep, {@link io.roseinfer.bench.compare.PairedRatio} and {@link io.roseinfer.bench.compare.Comparison} over pairs of two arms.
 *
 * <p>Invariants: everything here is arithmetic on figures that runs have had; whatever is drawn is drawn from a seed.
 */
@NullMarked
package io.roseinfer.bench.compare;

import org.jspecify.annotations.NullMarked;
