package io.roseinfer.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLockInterruptionException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class BlobLockTest {
    @TempDir
    private Path directory;

    @Test
    void lock_waits_for_another_process() throws Exception {
        Path file = directory.resolve("locks/x.lock");
        Process other = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        LockHolder.class.getName(),
                        file.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader said = other.inputReader();
                ExecutorService thread = Executors.newSingleThreadExecutor()) {
            assertThat(said.readLine()).isEqualTo("locked");
            CountDownLatch waiting = new CountDownLatch(1);
            Future<Boolean> taken = thread.submit(() -> takeAndRelease(file, waiting));
            waiting.await();
            assertThat(taken.isDone()).isFalse();
            other.getOutputStream().close();
            assertThat(taken.get()).isTrue();
        } finally {
            other.destroy();
        }
    }

    @Test
    void lock_is_free_again_after_it_was_closed() throws Exception {
        Path file = directory.resolve("x.lock");
        CountDownLatch waiting = new CountDownLatch(1);
        takeAndRelease(file, waiting);
        takeAndRelease(file, waiting);
        assertThat(waiting.getCount()).isEqualTo(1);
    }

    @Test
    void lock_on_a_file_system_without_locks_excludes_threads_only() throws Exception {
        Path file = directory.resolve("x.lock");
        CountDownLatch waiting = new CountDownLatch(1);
        try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
            Future<Boolean> taken;
            try (BlobLock held = BlobLock.acquire(file, new VolumeWithoutLocks(), () -> {})) {
                assertThat(held.isExclusive()).isFalse();
                taken = thread.submit(() -> takeAndRelease(file, waiting));
                waiting.await();
            }
            assertThat(taken.get()).isTrue();
        }
    }

    @Test
    void lock_is_the_same_under_another_path_to_its_folder() throws Exception {
        Path folder = Files.createDirectory(directory.resolve("real"));
        Path link = Files.createSymbolicLink(directory.resolve("link"), folder);
        CountDownLatch waiting = new CountDownLatch(1);
        try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
            Future<Boolean> taken;
            try (BlobLock held = BlobLock.acquire(folder.resolve("x.lock"), CacheVolume.REAL, () -> {})) {
                assertThat(held.isExclusive()).isTrue();
                taken = thread.submit(() -> takeAndRelease(link.resolve("x.lock"), waiting));
                waiting.await();
            }
            assertThat(taken.get()).isTrue();
        }
    }

    @Test
    void interrupt_while_another_process_is_waited_for_ends_the_wait_and_not_the_lock() throws Exception {
        Path file = directory.resolve("x.lock");
        CacheVolume interrupted = new CacheVolume() {
            @Override
            public void lock(FileChannel channel, Runnable onWait) throws IOException {
                throw new FileLockInterruptionException();
            }
        };
        assertThatThrownBy(() -> BlobLock.acquire(file, interrupted, () -> {}))
                .isInstanceOf(InterruptedException.class);
        assertThat(takeAndRelease(file, new CountDownLatch(1))).isTrue();
    }

    @SuppressWarnings("try") // the lock is held, not used
    private static boolean takeAndRelease(Path file, CountDownLatch waiting) throws InterruptedException {
        try (BlobLock held = BlobLock.acquire(file, CacheVolume.REAL, waiting::countDown)) {
            return true;
        }
    }
}
