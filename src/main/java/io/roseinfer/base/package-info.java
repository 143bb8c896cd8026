/**
 * Basic utilities that every package may use; this package depends on no other.
 *
 * <ul>
 *   <li>{@link io.roseinfer.base.Clock}: time as an argument. <li>{@link io.roseinfer.base.Check}: always-on checks of
 *       internal invariants. A failed check is a bug and stops the engine; no user, file or device can cause one.
 *       <li>{@link io.roseinfer.base.RoseException}: the sealed hierarchy of failures that users, files and devices
 *       <em>can</em> cause. <li>{@link io.roseinfer.base.StrictJson}: the configured JSON parser; rejects duplicate
 *       keys, trailing tokens and deep nesting. <li>{@link io.roseinfer.base.Limits}: limits on external input.
 *       <li>{@link io.roseinfer.base.Quoted} and {@link io.roseinfer.base.FileFailure}: messages with external text and
 *       paths, and file errors. <li>{@link io.roseinfer.base.WorkCounter}: counted work that an interrupt cancels.
 *       <li>{@link io.roseinfer.base.TokenMask}: a set of token ids, made by grammars and used by samplers.
 *       <li>{@link io.roseinfer.base.Utf16}: validation of strings as Unicode.
 *       <li>{@link io.roseinfer.base.MachineClock}: identifies the machine whose clock a time comes from.
 *       <li>{@link io.roseinfer.base.SpellingSuggestion}: suggestions for misspelled words.
 * </ul>
 *
 * <p>Why not a {@code util} package: if the only name for something is "util", it has not been understood yet.
 */
@NullMarked
package io.roseinfer.base;

import org.jspecify.annotations.NullMarked;
