/**
 * Safetensors: the checked, named tensors in a model's files.
 *
 * <p>{@link io.roseinfer.safetensors.Safetensors} opens a directory's weights, as one file, as shards with an index, or compressed
 * with zstd. {@link io.roseinfer.checkpoint.Checkpoint} is the interface that models are loaded from.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>Nothing in a file is trusted before it is checked: every header rule of the reference reader applies, and duplicates are
 *       rejected; an index cannot name a file outside its directory.
 *   <li>Every fault of a file is reported as {@link io.roseinfer.base.RoseException.BadModel}.
 *   <li>A tensor's memory belongs to the caller's arena: mapped or shared, never copied. A source owns files and decompressed
 *       bytes; closing it leaves tensors valid.
 *   <li>No more is read or decompressed than {@link io.roseinfer.base.Limits} allows.
 * </ul>
 *
 * <p>Why not map a whole file at once: pages that were read would stay in the process until the end; tensor by tensor, a loader
 * that repacks holds the checkpoint once. Why not data binding for headers: it coerces {@code 2.0} to 2 and keeps the last of
 * two equal names.
 */
@NullMarked
package io.roseinfer.safetensors;

import org.jspecify.annotations.NullMarked;
