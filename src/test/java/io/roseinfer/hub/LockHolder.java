package io.roseinfer.hub;

import java.io.IOException;
import java.nio.file.Path;

/** Another process that takes a blob's lock, reports that, and holds it until its input ends. */
final class LockHolder {
    private LockHolder() {}

    @SuppressWarnings("try") // the lock is held, not used
    public static void main(String[] arguments) throws IOException, InterruptedException {
        try (BlobLock held = BlobLock.acquire(Path.of(arguments[0]), CacheVolume.REAL, () -> {})) {
            System.out.println("locked");
            while (System.in.read() >= 0) {
                // until the input ends
            }
        }
    }
}
