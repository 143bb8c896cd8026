/**
 * The {@code roseinfer} command. Flags are parsed into the groups of {@code cli.flags}; a {@code …Command} converts them to the records
 * of lower packages, runs the work and prints results through a {@code cli.terminal.Terminal}.
 *
 * <p>Invariants: every failure is one line on standard error and the exit code of {@code Failures}; only {@code Main} reads the
 * environment and exits.
 *
 * <p>Why commands do not call exit: they could not run inside a test, and would leave resources open.
 */
@NullMarked
package io.roseinfer.cli;

import org.jspecify.annotations.NullMarked;
