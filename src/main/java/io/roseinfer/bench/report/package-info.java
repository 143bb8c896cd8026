/**
 * Results of benchmarks. A {@link io.roseinfer.bench.report.BenchResult} is a record whose Javadoc defines every field of its file.
 * {@link io.roseinfer.bench.report.ResultJson} converts them to and from JSON, {@link io.roseinfer.bench.report.ResultFile} reads and
 * writes files, {@link io.roseinfer.bench.report.CsvReport} formats CSV. The Javadoc of text reports defines every printed line.
 * {@link io.roseinfer.bench.report.TimelineTrace} writes a run step by step, {@link io.roseinfer.bench.report.Attribution} breaks
 * latencies down.
 *
 * <p>Invariant: a report is a pure function of results, so tests compare its text.
 *
 * <p>Why files contain raw timestamps: they can be summarized in new ways, percentiles cannot.
 */
@NullMarked
package io.roseinfer.bench.report;

import org.jspecify.annotations.NullMarked;
