/**
 * Model files: what {@code --model} means, where its directory is, and the checked, named tensors in it.
 *
 * <ol>
 *   <li>{@link io.roseinfer.format.ModelRef} reads the text: a directory, a hub id, a built-in model, random weights.
 *   <li>{@link io.roseinfer.format.ModelHub} turns a hub id into a directory: a complete snapshot in the Hugging Face cache, or
 *       a download into it.
 *   <li>{@link io.roseinfer.format.Checkpoint} opens a directory's weights: safetensors as one file, as shards with an index, or
 *       zstd-compressed.
 *   <li>{@link io.roseinfer.format.WeightSource} is what the model package loads from, whatever is behind it.
 * </ol>
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>Nothing that a file or a server says is believed before it is checked: every header rule of the reference reader, and
 *       duplicates refused besides; names that could leave a directory, hashes that are none, sizes that cannot be.
 *   <li>What is wrong with a file, a server or the network ends in {@link io.roseinfer.base.RoseException.BadModel}, and what is
 *       wrong with a flag or a variable in {@link io.roseinfer.base.RoseException.BadInput}: nothing else comes out.
 *   <li>A tensor's memory belongs to the caller's arena: mapped or shared, never copied. A source owns files and decompressed
 *       bytes, and closing it takes no tensor away.
 *   <li>A blob that we put into the cache is whole and bears its hash as its name: it was collected under a name that no other
 *       tool writes to, and verified before it was renamed. One that turns out to be damaged is downloaded again.
 *   <li>The same files give the same model from the hub as from a directory.
 *   <li>No more is written to the disk than a server stated, nor than {@link io.roseinfer.base.Limits} allows.
 *   <li>The token leaves for the hub's own origin only. The environment is an argument, so is waiting. What is in the cache
 *       needs neither hub nor token.
 * </ul>
 *
 * <p>Why not map a whole file at once: pages that were read would stay in the process until the end; tensor by tensor, a loader
 * that repacks holds the checkpoint once. Why not data binding for headers: it coerces {@code 2.0} to 2 and keeps the last of
 * two equal names. Why not the HTTP client's own redirects: they would take the token along, and lose the hub's metadata, which
 * stands in the redirect itself.
 */
@NullMarked
package io.roseinfer.format;

import org.jspecify.annotations.NullMarked;
