package io.roseinfer.format;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One downloader for each blob: a lock file keeps processes apart, and, since the JVM holds file locks for the process as a
 * whole, a lock in memory keeps its threads apart. Other tools lock the same file by other means, so between them and us it
 * is the verified hash and the atomic rename that keep the cache sound.
 */
final class BlobLock implements AutoCloseable {
    /** Static because what it stands for, the lock of a file by this process, is. */
    private static final ConcurrentMap<Path, ReentrantLock> IN_THIS_PROCESS = new ConcurrentHashMap<>();

    private final Path file;
    private final ReentrantLock thread;
    private final FileChannel process;

    private BlobLock(Path file, ReentrantLock thread, FileChannel process) {
        this.file = file;
        this.thread = thread;
        this.process = process;
    }

    /**
     * Waits for the lock.
     *
     * @param onWait is told once if somebody else holds it
     */
    static BlobLock acquire(Path file, Runnable onWait) throws InterruptedException {
        ReentrantLock thread =
                IN_THIS_PROCESS.computeIfAbsent(file.toAbsolutePath().normalize(), key -> new ReentrantLock());
        if (!thread.tryLock()) {
            onWait.run();
            thread.lockInterruptibly();
        }
        try {
            return new BlobLock(file, thread, lockFile(file, onWait));
        } catch (IOException e) {
            thread.unlock();
            throw FileFailure.writing(file, e);
        } catch (RuntimeException e) {
            thread.unlock();
            throw e;
        }
    }

    private static FileChannel lockFile(Path file, Runnable onWait) throws IOException {
        Files.createDirectories(file.getParent());
        FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            FileLock lock = channel.tryLock();
            if (lock == null) {
                onWait.run();
                channel.lock();
            }
        } catch (IOException noLocksHere) {
            // Some network file systems have none; hash and rename still guard the result.
            return channel;
        }
        return channel;
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
