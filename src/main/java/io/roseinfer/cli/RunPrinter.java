package io.roseinfer.cli;

import io.roseinfer.bench.RunListener;
import io.roseinfer.bench.RunResult;
import io.roseinfer.bench.WarmUp;
import io.roseinfer.bench.report.OperatorReport;
import io.roseinfer.bench.report.StreamingReport;
import io.roseinfer.cli.terminal.ProgressBars;
import io.roseinfer.cli.terminal.Terminal;
import java.util.Locale;
import java.util.Optional;
import me.tongfei.progressbar.ProgressBar;

/** Prints banners and reports of runs, writes their files, and shows a progress bar on a terminal. */
final class RunPrinter implements RunListener {
    private final StreamingReport report;
    private final String settings;
    private final RunFiles files;
    private final Terminal terminal;
    private volatile Optional<ProgressBar> bar = Optional.empty();

    /**
     * @param settings settings that the report omits
     */
    RunPrinter(StreamingReport report, String settings, RunFiles files, Terminal terminal) {
        this.report = report;
        this.settings = settings;
        this.files = files;
        this.terminal = terminal;
    }

    @Override
    public void started(Phase phase, int number, int of, int requests) {
        terminal.print(
                phase == Phase.WARMUP
                        ? StreamingReport.warmupBanner(number, of)
                        : StreamingReport.runBanner(number, of));
        bar = ProgressBars.open(terminal, phase == Phase.WARMUP ? "warmup" : "run", requests);
    }

    @Override
    public void requestEnded() {
        bar.ifPresent(ProgressBar::step);
    }

    @Override
    public void finished(Phase phase, RunResult result) {
        bar.ifPresent(ProgressBar::close);
        if (phase == Phase.MEASURED) {
            terminal.print(report.text(result) + "Settings: " + settings + OperatorReport.text(result));
            files.add(result);
        }
    }

    @Override
    public void warmedUp(WarmUp warmUp) {
        files.warmedUp(warmUp);
        warmUp.steady()
                .ifPresent(steady -> terminal.note(String.format(
                        Locale.ROOT,
                        "warm-up: %d %s in %.2f s%s",
                        warmUp.runs(),
                        warmUp.runs() == 1 ? "run" : "runs",
                        warmUp.seconds(),
                        steady ? "" : "; --warmup-runs N warms up for longer")));
    }
}
