package io.roseinfer.hub;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Calls that file systems answer differently: links, locks and free space. A seam, since no test can change those of the file
 * system it runs on.
 */
interface CacheVolume {
    /** The file system as it is. */
    CacheVolume REAL = new CacheVolume() {};

    /** Creates a symbolic link. */
    default void link(Path link, Path target) throws IOException {
        Files.createSymbolicLink(link, target);
    }

    /** Returns the bytes that this process can still write. */
    default long usableBytes(Path directory) throws IOException {
        return Files.getFileStore(directory).getUsableSpace();
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
