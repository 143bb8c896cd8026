/**
 * Results as a page for people: {@link io.roseinfer.bench.report.html.HtmlReport} makes a list of blocks
 * ({@link io.roseinfer.bench.report.html.Block}) of results, and {@link io.roseinfer.bench.report.html.Page} writes it as one file.
 * Figures are drawn with {@link io.roseinfer.bench.report.html.Svg} and {@link io.roseinfer.bench.report.html.Axis}.
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
