/**
 * Flags of the commands: groups shared by several commands ({@code …Flags}), converters of values
 * ({@link io.roseinfer.cli.flags.Choices}, {@link io.roseinfer.cli.flags.Shapes}), bounds of numbers
 * ({@link io.roseinfer.cli.flags.Within}), and the effective settings ({@link io.roseinfer.cli.flags.SettingsInForce}).
 *
 * <p>Invariants: an invalid value is reported with the name of its flag; so is a flag that has no effect together with the others;
 * only {@link io.roseinfer.cli.flags.ModelFlags} loads models.
 *
 * <p>Why not declare flags in the commands: copies of one flag would diverge in meaning, default and help text.
 */
@NullMarked
package io.roseinfer.cli.flags;

import org.jspecify.annotations.NullMarked;
