package io.roseinfer.hub;

import java.io.IOException;
import java.nio.channels.FileChannel;

/** A file system without locks, like some network file systems. */
public final class VolumeWithoutLocks implements CacheVolume {
    @Override
    public void lock(FileChannel file, Runnable onWait) throws IOException {
        throw new IOException("No locks available");
    }
}
