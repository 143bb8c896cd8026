/**
 * Numbers about requests and steps. {@link io.roseinfer.metrics.TokenTimes} defines TTFT, TPOT and ITL for all that measure them.
 * {@link io.roseinfer.metrics.RequestStamps} are the timestamps of a request to an engine,
 * {@link io.roseinfer.metrics.RequestLatency} has its latencies. A {@link io.roseinfer.metrics.StepRecord} is what is known of one step, {@link io.roseinfer.metrics.HostTime} sums up many.
 * All percentiles come from {@link io.roseinfer.metrics.Percentiles}. No clock is read here; stamps are handed in.
 *
 * <p>Why not histograms: a benchmark run keeps every stamp, so its percentiles are exact.
 */
@NullMarked
package io.roseinfer.metrics;

import org.jspecify.annotations.NullMarked;
