/**
 * The {@code roseinfer} command. Flags are parsed into option classes ({@code …Options}, {@code …Flags}), a {@code …Command}
 * turns them into the records of the packages below and prints what comes back.
 *
 * <p>Invariants: a command sees the process through its {@code Terminal} only, so every command runs in place in a test; results
 * go to standard output and nothing else does; whatever goes wrong is one line on standard error and the exit code of
 * {@code Failures}; a wrong value is refused with the name of its flag. {@code Main} alone reads the environment and exits.
 * {@code ModelOptions} alone knows how a model is loaded.
 */
@NullMarked
package io.roseinfer.cli;

import org.jspecify.annotations.NullMarked;
