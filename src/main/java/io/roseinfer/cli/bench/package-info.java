/**
 * The commands that measure servers and show what was measured: {@code bench serve}, {@code bench sweep}, {@code bench ab} and
 * {@code bench replay}, which are runs of it, and {@code report}. What answers is a {@link io.roseinfer.cli.bench.SystemUnderTest}.
 *
 * <p>Invariant: a run that does not count ends with exit code 8 and says why, with its results printed and written all the same; one whose
 * engine died has none and ends with exit code 7.
 *
 * <p>Why not beside the other commands: those measure this engine from within, these any engine from without.
 */
@NullMarked
package io.roseinfer.cli.bench;

import org.jspecify.annotations.NullMarked;
