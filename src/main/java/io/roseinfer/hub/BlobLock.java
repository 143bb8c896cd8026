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
 * One downloader for each blob: a lock file keeps processes apart, and, since the JVM holds file locks for the process as a
 * whole, a lock in memory keeps its threads apart. It spares work and lets a download be resumed; the cache does not rely on it,
 * since other tools lock the same file by other means and some file systems have no locks at all.
 */
final class BlobLock implements AutoCloseable {
    /** Static because what it stands for, the lock of a file by this process, is. */
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
     * Waits for the lock. Where the file system has no locks, only this process's threads are kept apart.
     *
     * @param onWait is told once if somebody else holds it
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

    /** Whether other processes of ours are kept out, too; not so where the file system has no locks. */
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
