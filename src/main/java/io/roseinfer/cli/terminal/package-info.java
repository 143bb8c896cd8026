/**
 * A command's view of its process: its {@link io.roseinfer.cli.terminal.Terminal} with progress bars, downloads and memory tables, the
 * {@link io.roseinfer.cli.terminal.Machine} it runs on, and the {@link io.roseinfer.cli.terminal.UsageMessage} of an invalid command line.
 *
 * <p>Invariants: a {@link io.roseinfer.cli.terminal.Command} uses the process only through its terminal, so every command can run inside a
 * test; only results go to standard output; control characters from outside are escaped.
 *
 * <p>Why not {@code System.out}: a print stream hides errors, and a test could not capture the output of a single command.
 */
@NullMarked
package io.roseinfer.cli.terminal;

import org.jspecify.annotations.NullMarked;
