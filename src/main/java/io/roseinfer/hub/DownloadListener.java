package io.roseinfer.hub;

/**
 * Is notified of the progress of downloads. Called by the downloading threads, in order for each file; must return at
 * once.
 */
public interface DownloadListener {
    /** Ignores everything. */
    DownloadListener SILENT = (file, bytesSoFar, totalBytes) -> {};

    /**
     * Called when more of a file has arrived.
     *
     * @param file its name in the repository
     * @param bytesSoFar including bytes of earlier, interrupted downloads; decreases if a download restarts
     * @param totalBytes -1 if unknown
     */
    void progress(String file, long bytesSoFar, long totalBytes);

    /** Called if another process or thread is downloading the same file, before waiting for it. */
    default void waiting(String file) {}

    /**
     * Called if an attempt has failed and will be repeated.
     *
     * @param attempt number of the next attempt: 2 or more, counted since a file's last progress
     * @param maxAttempts the attempt after which the download fails
     * @param reason why the last attempt failed
     */
    default void retrying(String file, int attempt, int maxAttempts, String reason) {}

    /** Called with a warning of one sentence; the download continues. */
    default void warning(String message) {}
}
