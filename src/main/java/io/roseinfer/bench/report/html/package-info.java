/**
 * Results as a page for people: {@link io.roseinfer.bench.report.html.HtmlReport} makes one file of the files that the benchmarks write
 * ({@link io.roseinfer.bench.report.html.ResultDocument}), with its charts as SVG ({@link io.roseinfer.bench.report.html.Chart}).
 *
 * <p>Invariants: a page refers to nothing outside of itself and runs no script; it is well-formed XML as well; every text that comes
 * from a file is escaped; charts are drawn from the raw stamps and not from summaries.
 *
 * <p>Why not a plotting library: the smallest is ten times as much as these charts, and a page without a script can be printed, kept,
 * and read with scripts off.
 */
@NullMarked
package io.roseinfer.bench.report.html;

import org.jspecify.annotations.NullMarked;
