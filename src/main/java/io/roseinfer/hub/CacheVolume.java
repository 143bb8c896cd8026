package io.roseinfer.hub;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/** Operations that differ between file systems: links, locks and free space. Tests replace it. */
interface CacheVolume {
    /** The actual file system. */
    CacheVolume REAL = new CacheVolume() {};

    /** Creates a symbolic link. */
    default void link(Path link, Path target) throws IOException {
        Files.createSymbolicLink(link, target);
    }

    /** Returns the free space for this process. */
    default long usableBytes(Path directory) throws IOException {
        return Files.getFileStore(directory).getUsableSpace();
    }

    /**
     * Locks a file against other processes, waiting if necessary; closing the channel unlocks it.
     *
     * @param onWait is run once if another process holds the lock
     * @throws IOException if the file system has no locks
     */
    default void lock(FileChannel file, Runnable onWait) throws IOException {
        if (file.tryLock() == null) {
            onWait.run();
            file.lock();
        }
    }
}
