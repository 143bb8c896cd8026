/**
 * The process as a command sees it: {@link io.roseinfer.cli.terminal.Terminal}, and what is shown on it whoever asks, downloads,
 * progress bars and tables of memory; what a {@link io.roseinfer.cli.terminal.Command} is, the
 * {@link io.roseinfer.cli.terminal.Machine} it runs on, and the {@link io.roseinfer.cli.terminal.UsageMessage} of a wrong command line.
 *
 * <p>Invariants: a command sees the process through its terminal only, so every command runs in place in a test; results go to
 * standard output and nothing else does; text from outside is shown and never obeyed.
 *
 * <p>Why not {@code System.out}: a print stream swallows its errors, and a test could not read what one command wrote.
 */
@NullMarked
package io.roseinfer.cli.terminal;

import org.jspecify.annotations.NullMarked;
