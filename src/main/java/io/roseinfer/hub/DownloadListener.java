package io.roseinfer.hub;

/** Hears how downloads come along. Called from the downloading threads, in order for each file; must return at once. */
public interface DownloadListener {
    /** Says nothing. */
    DownloadListener SILENT = (file, bytesSoFar, totalBytes) -> {};

    /**
     * Some more of a file has arrived.
     *
     * @param file its name in the repository
     * @param bytesSoFar those of earlier, broken-off downloads included; smaller than before if a download starts over
     * @param totalBytes -1 if the hub does not say
     */
    void progress(String file, long bytesSoFar, long totalBytes);

    /** Another process or thread is downloading the same file; this one waits for it. */
    default void waiting(String file) {}

    /** An attempt has failed and will be repeated. */
    default void retrying(String file, String reason) {}

    /** Something that the user ought to know, in one sentence; the work goes on. */
    default void warning(String message) {}
}
