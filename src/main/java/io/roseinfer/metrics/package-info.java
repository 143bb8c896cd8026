/**
 * Numbers about requests: {@link io.roseinfer.metrics.RequestStamps} are raw stamps, {@link io.roseinfer.metrics.RequestMetrics}
 * what they say about one request, {@link io.roseinfer.metrics.LatencySummary} about many. All percentiles come from
 * {@link io.roseinfer.metrics.Percentiles}. No clock is read here; stamps are handed in.
 *
 * <p>Why not histograms: a benchmark run keeps every stamp, so its percentiles are exact.
 */
@NullMarked
package io.roseinfer.metrics;

import org.jspecify.annotations.NullMarked;
