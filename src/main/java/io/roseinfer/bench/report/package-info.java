/**
 * The results of a benchmark, told: {@link io.roseinfer.bench.report.StreamingReport},
 * {@link io.roseinfer.bench.report.RunsReport} and {@link io.roseinfer.bench.report.OperatorReport} as text and
 * {@link io.roseinfer.bench.report.JsonReport} as JSON, {@link io.roseinfer.bench.report.SchedulerReport},
 * {@link io.roseinfer.bench.report.ModelReport} and {@link io.roseinfer.bench.report.StepCostReport} as both,
 * {@link io.roseinfer.bench.report.ServeReport} as text and {@link io.roseinfer.bench.report.ServeJson} as JSON (the Javadoc of each
 * defines every printed line and explains every field), and
 * {@link io.roseinfer.bench.report.TimelineTrace} step by step. {@link io.roseinfer.bench.report.ResultFile} writes them.
 *
 * <p>{@link io.roseinfer.bench.report.Attribution} joins the client's stamps of a request with the server's:
 * {@link io.roseinfer.bench.report.FirstToken} is where the time to the first token went, {@link io.roseinfer.bench.report.Gap} the
 * step that the time between two tokens waited for, and {@link io.roseinfer.bench.report.PartTable} sums both over requests. The
 * parts of a request, with its residual, add up to what its client saw, to the nanosecond.
 *
 * <p>Invariant: a report is a pure function of results, so it is tested by comparing text.
 *
 * <p>Why not summaries in the results: a raw stamp can be summed up again in another way, a percentile cannot.
 */
@NullMarked
package io.roseinfer.bench.report;

import org.jspecify.annotations.NullMarked;
