/**
 * HTML reports: {@link io.roseinfer.bench.report.html.HtmlReport} converts results to a list of blocks
 * ({@link io.roseinfer.bench.report.html.Block}), and {@link io.roseinfer.bench.report.html.Page} writes them as one file. Figures are
 * drawn with {@link io.roseinfer.bench.report.html.Svg} and {@link io.roseinfer.bench.report.html.Axis}.
 *
 * <p>Invariants: a report has no external references and no scripts, and is well-formed XML; text from files is escaped; charts are drawn
 * from raw timestamps, not from summaries.
 *
 * <p>Why not a plotting library: the smallest has ten times the code of these charts, and a page without scripts can be printed, archived
 * and read with scripts disabled.
 */
@NullMarked
package io.roseinfer.bench.report.html;

import org.jspecify.annotations.NullMarked;
