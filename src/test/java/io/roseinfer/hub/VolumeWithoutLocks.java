package io.roseinfer.hub;

import java.io.IOException;
import java.nio.channels.FileChannel;

/** A file system that has no locks, as some network file systems are. */
public final class VolumeWithoutLocks implements CacheVolume {
    @Override
    public void lock(FileChannel file, Runnable onWait) throws IOException {
        throw new IOException("No locks available");
    }
}
