package io.roseinfer.hub.cache;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Calls that not every file system can answer: links and locks. A seam, since no test can take them away from the file system it
 * runs on.
 */
public interface CacheVolume {
    /** The file system as it is. */
    CacheVolume REAL = new CacheVolume() {};

    /** Creates a symbolic link. */
    default void link(Path link, Path target) throws IOException {
        Files.createSymbolicLink(link, target);
    }

    /**
     * Locks a file against other processes, waiting if need be; closing the channel unlocks it.
     *
     * @param onWait is told once if somebody else holds the lock
     * @throws IOException if there are no locks here
     */
    default void lock(FileChannel file, Runnable onWait) throws IOException {
        if (file.tryLock() == null) {
            onWait.run();
            file.lock();
        }
    }
}
