/**
 * The results of benchmarks. A {@link io.roseinfer.bench.report.BenchResult} is a record whose Javadoc defines every field of its file;
 * {@link io.roseinfer.bench.report.ResultJson} writes and reads all of them, {@link io.roseinfer.bench.report.ResultFile} has the files,
 * {@link io.roseinfer.bench.report.CsvReport} the tables. The other reports are text, and their Javadoc defines every printed line.
 * {@link io.roseinfer.bench.report.TimelineTrace} has a run step by step, {@link io.roseinfer.bench.report.Attribution} says where the
 * time went.
 *
 * <p>Invariant: a report is a pure function of results, so it is tested by comparing text.
 *
 * <p>Why not summaries in the results: a raw stamp can be summed up again in another way, a percentile cannot.
 */
@NullMarked
package io.roseinfer.bench.report;

import org.jspecify.annotations.NullMarked;
