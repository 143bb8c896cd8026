package io.roseinfer.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
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
    void lock_of_another_process_is_waited_for_and_then_taken() throws Exception {
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

    @SuppressWarnings("try") // the lock is held, not used
    private static boolean takeAndRelease(Path file, CountDownLatch waiting) throws InterruptedException {
        try (BlobLock held = BlobLock.acquire(file, waiting::countDown)) {
            return true;
        }
    }
}
