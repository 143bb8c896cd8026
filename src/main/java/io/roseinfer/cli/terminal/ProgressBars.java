package io.roseinfer.cli.terminal;

import io.roseinfer.base.Printable;
import java.util.Optional;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/** Progress bars on standard error, only on a terminal. */
public final class ProgressBars {
    private static final int WIDTH = 79;
    private static final int REFRESH_MILLIS = 250;

    private ProgressBars() {}

    /** Opens a progress bar; empty without a terminal. A background thread draws it, and closing clears it. */
    public static Optional<ProgressBar> open(Terminal terminal, String what, long total) {
        if (!terminal.interactive()) {
            return Optional.empty();
        }
        return Optional.of(new ProgressBarBuilder()
                .setTaskName(Printable.line(what))
                .setInitialMax(total)
                .setUpdateIntervalMillis(REFRESH_MILLIS)
                .setStyle(ProgressBarStyle.ASCII)
                .setConsumer(new DelegatingProgressBarConsumer(
                        line -> {
                            terminal.err().print('\r' + line);
                            terminal.err().flush();
                        },
                        WIDTH))
                .clearDisplayOnFinish()
                .build());
    }
}
