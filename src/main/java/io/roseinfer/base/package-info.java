/**
 * The ground floor: what every package may use and nothing more.
 *
 * <ul>
 *   <li>{@link io.roseinfer.base.Clock}: time as an argument.
 *   <li>{@link io.roseinfer.base.Check}: always-on checks of our own invariants. A failed check is a bug of ours and stops the
 *       engine loudly; nothing a user, a file or a device can cause may end in one.
 *   <li>{@link io.roseinfer.base.RoseException}: the sealed family of everything a user, a file or a device <em>can</em> cause.
 *   <li>{@link io.roseinfer.base.StrictJson}: the one configured JSON reader; duplicates, trailing tokens and depth are refused.
 *   <li>{@link io.roseinfer.base.Limits}: the numbers that bound what is read from outside.
 *   <li>{@link io.roseinfer.base.Quoted} and {@link io.roseinfer.base.FileFailure}: text and paths from outside as messages show
 *       them, and what the file system refused.
 *   <li>{@link io.roseinfer.base.Steps}: work counted, and ended by an interrupt.
 *   <li>{@link io.roseinfer.base.Utf16}: whether a string is valid Unicode.
 *   <li>{@link io.roseinfer.base.MachineClock}: which machine's clock a time is of.
 *   <li>{@link io.roseinfer.base.Spelling}: the word that a misspelt one was meant to be.
 * </ul>
 *
 * <p>Why not a {@code util} package: what has no better home than "util" has not been understood yet.
 */
@NullMarked
package io.roseinfer.base;

import org.jspecify.annotations.NullMarked;
