/**
 * Where a model's files are: what {@code --model} means, and the Hugging Face cache and downloads into it.
 *
 * <ol>
 *   <li>{@link io.roseinfer.format.ModelRef} reads the text: a directory, a hub id, a built-in model, random weights.
 *   <li>{@link io.roseinfer.format.ModelHub} turns a hub id into a directory: a complete snapshot in the Hugging Face cache, or
 *       a download into it.
 * </ol>
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>Nothing that a server says is believed before it is checked: names that could leave a directory, hashes that are none,
 *       sizes that cannot be.
 *   <li>What is wrong with a file, a server or the network ends in {@link io.roseinfer.base.RoseException.BadModel}, and what is
 *       wrong with a flag or a variable in {@link io.roseinfer.base.RoseException.BadInput}: nothing else comes out.
 *   <li>A blob that we put into the cache is whole and bears its hash as its name: it was collected under a name that no other
 *       tool writes to, and verified before it was renamed. One that turns out to be damaged is downloaded again.
 *   <li>The same files give the same model from the hub as from a directory.
 *   <li>No more is written to the disk than a server stated, nor than {@link io.roseinfer.base.Limits} allows.
 *   <li>The token leaves for the hub's own origin only. The environment is an argument, so is waiting. What is in the cache
 *       needs neither hub nor token.
 * </ul>
 *
 * <p>Why not the HTTP client's own redirects: they would take the token along, and lose the hub's metadata, which stands in the
 * redirect itself.
 */
@NullMarked
package io.roseinfer.format;

import org.jspecify.annotations.NullMarked;
