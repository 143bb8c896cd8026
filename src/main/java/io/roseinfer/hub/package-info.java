/**
 * Where a model's files are: what {@code --model} means, and the Hugging Face cache and downloads into it.
 *
 * <ol>
 *   <li>{@link io.roseinfer.hub.ModelRef} reads the text: a directory, a hub id with or without a revision, a built-in model, random weights.
 *   <li>{@link io.roseinfer.hub.ModelHub} turns a hub id into a directory: a complete snapshot in the cache
 *       ({@code hub.cache}), or a download into it ({@code hub.download}).
 * </ol>
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>Whatever is wrong with a file, a server or the network ends in {@link io.roseinfer.base.RoseException.BadModel}, and whatever
 *       is wrong with a flag or a variable in {@link io.roseinfer.base.RoseException.BadInput}: nothing else comes out.
 *   <li>The same files give the same model from the hub as from a directory.
 *   <li>A model that is in the cache needs neither hub nor token.
 *   <li>A blob that turns out to be damaged is downloaded again, once.
 * </ul>
 *
 * <p>Why not ask the hub at every start whether the cached snapshot is the newest: a run would depend on the network, and give
 * another model from one day to the next.
 */
@NullMarked
package io.roseinfer.hub;

import org.jspecify.annotations.NullMarked;
