/**
 * Locates models: the argument {@code --model}, and the Hugging Face cache with downloads into it.
 *
 * <ol>
 *   <li>{@link io.roseinfer.hub.ModelRef} parses the argument: a directory, a hub id with or without a revision, a built-in model, random weights.
 *   <li>{@link io.roseinfer.hub.ModelHub} resolves a hub id to a directory: a complete {@code Snapshot} in the cache
 *       ({@code HubCache}), or a download into it ({@code RepositoryDownload}).
 * </ol>
 *
 * <p>The cache is shared by all Hugging Face tools: blobs named by their hash, snapshots that link to them, and locks.
 * {@link io.roseinfer.hub.HubSettings} has the locations of hub and cache and the permissions, from flags and variables.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>Every fault of a file, a server or the network is reported as {@link io.roseinfer.base.RoseException.BadModel}, and every
 *       fault of a flag or a variable as {@link io.roseinfer.base.RoseException.BadInput}.
 *   <li>The same files give the same model from the hub as from a directory.
 *   <li>A model in the cache needs neither hub nor token. A read-only cache and file systems without locks or links are supported.
 *   <li>A downloaded blob is complete and named by its hash: it is written under a name that no other tool writes to, and verified
 *       before it is renamed. Entries are replaced by atomic moves, so readers never see partial ones.
 *   <li>Nothing that a server sends is trusted before it is checked: names that could leave a directory, malformed hashes,
 *       impossible sizes. No more is written than the server announced, nor than {@link io.roseinfer.base.Limits} allows.
 *   <li>The token is sent to the hub's origin only. The environment is an argument, and so is the delay between attempts.
 *   <li>An interrupted download is resumed, and is never used as a model.
 *   <li>A damaged blob is downloaded again, once.
 * </ul>
 *
 * <p>Why not ask the hub at every start whether the cached snapshot is the newest: a run would depend on the network, and its model
 * could change from one day to the next. Why not another cache layout: a model that another tool has downloaded would be downloaded
 * and stored twice. Why not hash every blob before use: it takes seconds per gigabyte, so a blob is verified if it cannot be opened.
 * Why not the HTTP client's redirects: they would forward the token, and lose the hub's metadata, which is in the redirect itself.
 */
@NullMarked
package io.roseinfer.hub;

import org.jspecify.annotations.NullMarked;
