/**
 * The flags of the commands: groups that several commands share ({@code …Flags}), converters of their values
 * ({@link io.roseinfer.cli.flags.Choices}, {@link io.roseinfer.cli.flags.Shapes}), the bounds of their numbers
 * ({@link io.roseinfer.cli.flags.Within}), and the values in force once they are read ({@link io.roseinfer.cli.flags.SettingsInForce}).
 *
 * <p>Invariants: a wrong value is refused with the name of its flag; a flag that has no effect beside the others is said to have
 * none; {@link io.roseinfer.cli.flags.ModelFlags} alone knows how a model is loaded.
 *
 * <p>Why not flags in the commands themselves: one flag would get two meanings, two defaults and two texts.
 */
@NullMarked
package io.roseinfer.cli.flags;

import org.jspecify.annotations.NullMarked;
