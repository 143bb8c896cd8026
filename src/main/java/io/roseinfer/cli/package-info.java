/**
 * The {@code roseinfer} command. Flags are parsed into the groups of {@code cli.flags}, a {@code …Command} turns them into the
 * records of the packages below and prints what comes back through a {@code cli.terminal.Terminal}.
 *
 * <p>Invariants: whatever goes wrong is one line on standard error and the exit code of {@code Failures}; {@code Main} alone
 * reads the environment and exits.
 *
 * <p>Why not an exit in a command: it could not run in place in a test, and what it had opened would stay open.
 */
@NullMarked
package io.roseinfer.cli;

import org.jspecify.annotations.NullMarked;
