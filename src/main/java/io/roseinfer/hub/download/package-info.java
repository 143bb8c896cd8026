/**
 * Downloads from the Hugging Face hub into its cache.
 *
 * <p>{@link io.roseinfer.hub.download.HubSettings} says where hub and cache are and what is allowed, from flags and variables;
 * {@link io.roseinfer.hub.download.HubClient} is a connection, {@link io.roseinfer.hub.download.RepositoryDownload} brings one
 * repository, and {@link io.roseinfer.hub.download.DownloadListener} hears how it goes.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>Nothing that a server says is believed before it is checked: names that could leave a directory, hashes that are none,
 *       sizes that cannot be.
 *   <li>No more is written to the disk than a server stated, nor than {@link io.roseinfer.base.Limits} allows.
 *   <li>The token leaves for the hub's own origin only. The environment is an argument, so is waiting.
 *   <li>A download that was broken off is taken up where it stopped, and never taken for a model.
 * </ul>
 *
 * <p>Why not the HTTP client's own redirects: they would take the token along, and lose the hub's metadata, which stands in the
 * redirect itself.
 */
@NullMarked
package io.roseinfer.hub.download;

import org.jspecify.annotations.NullMarked;
