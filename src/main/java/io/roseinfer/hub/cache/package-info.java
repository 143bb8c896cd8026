/**
 * The cache that all Hugging Face tools share: blobs by their hash, snapshots that link to them, and the locks of those who
 * write.
 *
 * <p>{@link io.roseinfer.hub.cache.HubCache} finds what is there, as a {@link io.roseinfer.hub.cache.Snapshot};
 * {@link io.roseinfer.hub.cache.CacheFolder} is one repository's folder, into which {@code hub.download} writes.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>A blob that we put there is whole and bears its hash as its name: it was collected under a name that no other tool
 *       writes to, and verified before it was renamed.
 *   <li>Whoever looks sees an entry as it was or as it will be, never half of one: entries are replaced by atomic moves.
 *   <li>A cache that is read-only still serves what it holds, and so does a file system without locks or links.
 *   <li>Nothing here connects to anything.
 * </ul>
 *
 * <p>Why not a layout of our own: a model that another tool has downloaded would be downloaded and stored twice. Why not hash
 * every blob before use: it costs seconds per gigabyte, so blobs are looked at when they cannot be opened.
 */
@NullMarked
package io.roseinfer.hub.cache;

import org.jspecify.annotations.NullMarked;
