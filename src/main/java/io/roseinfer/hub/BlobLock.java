package io.roseinfer.hub;

import io.roseinfer.base.FileFailure;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLockInterruptionException;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Allows one downloader per blob. A lock file excludes other processes; since the JVM holds file locks per process, a
 * lock in memory excludes other threads. It saves work and allows resuming; the cache does not rely on it, because
 * other tools lock the file differently and some file systems have no locks.
 */
final class BlobLock implements AutoCloseable {
    /** Static, because a file lock belongs to the process. */
    private static final ConcurrentMap<Path, ReentrantLock> IN_THIS_PROCESS = new ConcurrentHashMap<>();

    private final Path file;
    private final ReentrantLock thread;
    private final FileChannel process;
    private final boolean exclusive;

    private BlobLock(Path file, ReentrantLock thread, FileChannel process, boolean exclusive) {
        this.file = file;
        this.thread = thread;
        this.process = process;
        this.exclusive = exclusive;
    }

    /**
     * Waits for the lock. On file systems without locks, it excludes only this process's threads.
     *
     * @param onWait is run once if another holder has the lock
     */
    static BlobLock acquire(Path file, CacheVolume volume, Runnable onWait) throws InterruptedException {
        try {
            Path locks = Files.createDirectories(file.toAbsolutePath().resolveSibling(""));
            Path key = locks.toRealPath().resolve(file.getFileName());
            return acquire(file, IN_THIS_PROCESS.computeIfAbsent(key, path -> new ReentrantLock()), volume, onWait);
        } catch (FileLockInterruptionException | ClosedByInterruptException e) {
            throw (InterruptedException) new InterruptedException().initCause(e);
        } catch (IOException e) {
            throw FileFailure.writing(file, e);
        }
    }

    private static BlobLock acquire(Path file, ReentrantLock thread, CacheVolume volume, Runnable onWait)
            throws IOException, InterruptedException {
        if (!thread.tryLock()) {
            onWait.run();
            thread.lockInterruptibly();
        }
        try {
            FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            try {
                return new BlobLock(file, thread, channel, isLocked(channel, volume, onWait));
            } catch (IOException | RuntimeException e) {
                channel.close();
                throw e;
            }
        } catch (IOException | RuntimeException e) {
            thread.unlock();
            throw e;
        }
    }

    private static boolean isLocked(FileChannel channel, CacheVolume volume, Runnable onWait) throws IOException {
        try {
            volume.lock(channel, onWait);
            return true;
        } catch (FileLockInterruptionException | ClosedByInterruptException e) {
            throw e;
        } catch (IOException | OverlappingFileLockException noLocksHere) {
            return false;
        }
    }

    /** Returns whether other processes are excluded, too; false on file systems without locks. */
    public boolean isExclusive() {
        return exclusive;
    }

    @Override
    public void close() {
        try {
            process.close();
        } catch (IOException e) {
            throw FileFailure.writing(file, e);
        } finally {
            thread.unlock();
        }
    }
}
