/**
 * What is said of a command line that is wrong: {@link io.roseinfer.cli.usage.UsageMessage}, with the word that was probably meant.
 *
 * <p>Invariants: one line; what is suggested is an option or a command that is there.
 *
 * <p>Why not with the other failures: flags within a flag's value, as those of {@code --a} and {@code --vary}, are answered alike.
 */
@NullMarked
package io.roseinfer.cli.usage;

import org.jspecify.annotations.NullMarked;
