/**
 * Metrics of requests and steps. {@link io.roseinfer.metrics.TokenTimes} defines TTFT, TPOT and ITL for the whole
 * project. {@link io.roseinfer.metrics.RequestStamps} has the timestamps of a request and
 * {@link io.roseinfer.metrics.RequestLatency} its latencies. {@link io.roseinfer.metrics.StepRecord} describes one
 * step, and {@link io.roseinfer.metrics.HostTime} summarizes the host overhead of many. All percentiles come from
 * {@link io.roseinfer.metrics.Percentiles}. This package reads no clock; callers pass timestamps.
 *
 * <p>Why not histograms: a benchmark run keeps every timestamp, so its percentiles are exact.
 */
@NullMarked
package io.roseinfer.metrics;

import org.jspecify.annotations.NullMarked;
