package io.roseinfer.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** The folder of one browser's settings and caches, which its processes write to until the last has ended. */
record BrowserProfile(Path folder) implements AutoCloseable {
    static BrowserProfile create() throws IOException {
        return new BrowserProfile(Files.createTempDirectory("roseinfer-browser"));
    }

    /** Kills a browser with all its processes, and returns when they have ended. */
    static void kill(Process browser) {
        List<ProcessHandle> all = Stream.concat(browser.descendants(), Stream.of(browser.toHandle()))
                .toList();
        all.forEach(ProcessHandle::destroyForcibly);
        CompletableFuture.allOf(all.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new))
                .join();
    }

    /** Deletes the folder, retrying while a remaining process writes to it. */
    @Override
    public void close() throws IOException {
        long end = System.nanoTime() + 30_000_000_000L;
        while (true) {
            try {
                delete(folder);
                return;
            } catch (IOException e) {
                if (System.nanoTime() > end) {
                    throw e;
                }
                Thread.onSpinWait();
            }
        }
    }

    private static void delete(Path path) throws IOException {
        if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            List<Path> inside;
            try (Stream<Path> listed = Files.list(path)) {
                inside = listed.toList();
            }
            for (Path each : inside) {
                delete(each);
            }
        }
        Files.deleteIfExists(path);
    }
}
