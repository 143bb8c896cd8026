/**
 * Where a model's files are: what {@code --model} means, and the Hugging Face cache and downloads into it.
 *
 * <ol>
 *   <li>{@link io.roseinfer.hub.ModelRef} reads the text: a directory, a hub id with or without a revision, a built-in model, random weights.
 *   <li>{@link io.roseinfer.hub.ModelHub} turns a hub id into a directory: a complete {@code Snapshot} in the cache
 *       ({@code HubCache}), or a download into it ({@code RepositoryDownload}).
 * </ol>
 *
 * <p>The cache is the one that all Hugging Face tools share: blobs named by their hash, snapshots that link to them, and locks.
 * {@link io.roseinfer.hub.HubSettings} holds the locations of hub and cache and what is allowed, from flags and variables.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>Whatever is wrong with a file, a server or the network ends in {@link io.roseinfer.base.RoseException.BadModel}, and whatever
 *       is wrong with a flag or a variable in {@link io.roseinfer.base.RoseException.BadInput}: nothing else comes out.
 *   <li>The same files give the same model from the hub as from a directory.
 *   <li>A model that is in the cache needs neither hub nor token. A read-only cache still serves what it holds, as does a file
 *       system without locks or links.
 *   <li>A downloaded blob is whole and named by its hash: it is collected under a name that no other tool writes to, and
 *       verified before it is renamed. Entries are replaced by atomic moves, so a reader never sees half of one.
 *   <li>Nothing that a server sends is used before it is checked: names that could leave a directory, malformed hashes,
 *       impossible sizes. No more is written than the server stated, nor than {@link io.roseinfer.base.Limits} allows.
 *   <li>The token is sent to the hub's own origin only. The environment is an argument, and so is waiting.
 *   <li>An interrupted download is resumed where it stopped and is never taken for a model.
 *   <li>A blob that turns out to be damaged is downloaded again, once.
 * </ul>
 *
 * <p>Why not ask the hub at every start whether the cached snapshot is the newest: a run would depend on the network, and give
 * another model from one day to the next. Why not a cache layout of our own: a model that another tool has downloaded would be
 * downloaded and stored twice. Why not hash every blob before use: it costs seconds per gigabyte, so a blob is verified when it
 * cannot be opened. Why not the HTTP client's own redirects: they would take the token along, and lose the hub's metadata, which
 * is in the redirect itself.
 */
@NullMarked
package io.roseinfer.hub;

import org.jspecify.annotations.NullMarked;
