package io.roseinfer.format;

import java.net.URI;

/**
 * A file as the hub describes it.
 *
 * @param name its path in the repository, one that {@link RelativeName} allows
 * @param address where the hub serves it, at this commit
 * @param commit the commit it was described at
 * @param bytes its size, -1 if the hub does not say
 */
record RemoteFile(String name, URI address, String commit, Etag etag, long bytes) {}
