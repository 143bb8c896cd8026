package io.roseinfer.cli.terminal;

import io.roseinfer.hub.DownloadListener;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import me.tongfei.progressbar.ProgressBar;

/** Shows downloads: a progress bar per file on a terminal, otherwise a line when a file starts. */
public final class Downloads implements DownloadListener, AutoCloseable {
    private static final long KIB = 1024;

    private final Terminal terminal;
    private final Map<String, ProgressBar> bars = new ConcurrentHashMap<>();
    private final Set<String> begun = ConcurrentHashMap.newKeySet();

    public Downloads(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public void progress(String file, long bytesSoFar, long totalBytes) {
        if (begun.add(file)) {
            begin(file, totalBytes);
        }
        ProgressBar bar = bars.get(file);
        if (bar != null) {
            bar.stepTo(bytesSoFar / KIB);
        }
    }

    private void begin(String file, long totalBytes) {
        ProgressBars.open(terminal, file + " KiB", totalBytes / KIB)
                .ifPresentOrElse(bar -> bars.put(file, bar), () -> terminal.note("downloading " + file));
    }

    @Override
    public void waiting(String file) {
        terminal.note("waiting for another process that downloads " + file);
    }

    @Override
    public void retrying(String file, int attempt, int maxAttempts, String reason) {
        terminal.note(
                "trying again to download " + file + ", attempt " + attempt + " of " + maxAttempts + ": " + reason);
    }

    @Override
    public void warning(String message) {
        terminal.note(message);
    }

    @Override
    public void close() {
        bars.values().forEach(ProgressBar::close);
    }
}
