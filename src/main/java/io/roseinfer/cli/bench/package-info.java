/**
 * The commands that benchmark servers and show results: {@code bench serve}, the commands built on it ({@code bench fleet},
 * {@code bench sweep}, {@code bench ab}, {@code bench replay}), and {@code report}. They measure a {@link io.roseinfer.cli.bench.SystemUnderTest}.
 *
 * <p>Invariant: an invalid run still prints and writes its results, gives the reason and exits with code 8; a run whose engine failed has
 * no results and exits with code 7.
 *
 * <p>Why a separate package: the other benchmark commands measure this engine from the inside, these measure any engine as a client.
 */
@NullMarked
package io.roseinfer.cli.bench;

import org.jspecify.annotations.NullMarked;
