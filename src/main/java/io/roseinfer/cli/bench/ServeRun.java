package io.roseinfer.cli.bench;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.ThreadLocation;
import io.roseinfer.bench.http.ClientBaseline;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.report.Objectives;
import io.roseinfer.bench.report.ResultFile;
import io.roseinfer.bench.report.ServeReport;
import io.roseinfer.bench.report.ServeResult;
import io.roseinfer.cli.flags.BenchServeOutputFlags;
import io.roseinfer.cli.flags.Choices;
import io.roseinfer.cli.flags.CustomObservers;
import io.roseinfer.cli.flags.EndpointFlags.Kind;
import io.roseinfer.cli.flags.ObserveFlag;
import io.roseinfer.cli.flags.ReportFlags;
import io.roseinfer.cli.terminal.Machine;
import io.roseinfer.cli.terminal.StopSignals;
import io.roseinfer.cli.terminal.Terminal;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import picocli.CommandLine.Model.CommandSpec;

/**
 * One run of {@code bench serve} or {@code bench fleet}.
 *
 * @param line the system and the load
 * @param results what to print, and the result file
 * @param pages the report page
 * @param observe the observers of an in-process engine
 */
record ServeRun(ServeCommandLine line, BenchServeOutputFlags results, ReportFlags pages, ObserveFlag observe) {
    private static final int INVALID = 8;
    private static final int PATIENCE_SECONDS = 5;

    /**
     * Runs the load, writes and prints the results, and returns the exit code.
     *
     * @throws io.roseinfer.base.RoseException if a flag is invalid or the system fails
     */
    int run(Terminal terminal) {
        BenchServeFlags flags = line.flags();
        CommandSpec command = line.command();
        Optional<ResultFile> file = results.file(flags.arrivals().requestRate());
        pages.check(file.stream().toList());
        Objectives unusedBounds = flags.objective().objectives();
        BenchServeFlags.Load asked = flags.load(command, flags.seed());
        asked.notes().forEach(terminal::note);
        flags.requireCounted(asked.offered());
        Optional<ClientBaseline> floor = MeasuredRun.floor(flags, terminal);
        requireEngine();
        try (CustomObservers observed = observe.open();
                SystemUnderTest system = SystemUnderTest.open(line, terminal)) {
            BenchServeFlags.Load load = flags.fittedLengths().isEmpty() ? asked : flags.load(command, flags.seed());
            AtomicInteger code = new AtomicInteger();
            Thread running = Thread.currentThread();
            CountDownLatch ended = new CountDownLatch(1);
            StopSignals.Handled handled = StopSignals.handle(terminal, signal -> {
                code.set(signal);
                running.interrupt();
                Thread.ofPlatform().daemon().name("stop").start(() -> haltIfStuck(running, ended, signal, terminal));
            });
            LoadResult result;
            try {
                result = system.run(flags, load.offered(), observed.observers());
            } finally {
                ended.countDown();
                handled.close();
                boolean unusedInterrupted = Thread.interrupted();
            }
            MeasuredRun run = new MeasuredRun(
                    line,
                    system,
                    result,
                    load.counts(),
                    system.environment().withPolicies(Machine.policies(observed.all())),
                    floor);
            int judged = report(run, file, terminal);
            return code.get() > 0 ? code.get() : judged;
        }
    }

    private void requireEngine() {
        Kind backend = line.flags().endpoint().backend();
        if (observe.isGiven() && backend != Kind.ENGINE && backend != Kind.SIM) {
            throw new BadInput("--observe needs an engine in this process, and --backend is " + Choices.word(backend)
                    + "; use --backend engine or sim, or give --observe to the server's command");
        }
    }

    /** Ends the process if its run ignores the interruption, as a policy that loops does. */
    private static void haltIfStuck(Thread running, CountDownLatch ended, int code, Terminal terminal) {
        try {
            if (!ended.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                terminal.note("the run did not stop within " + PATIENCE_SECONDS + " s of the signal; it is still in "
                        + ThreadLocation.frame(running) + ", and the process ends without results");
                Runtime.getRuntime().halt(code);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Writes files before printing, so that closed output does not lose results. Returns the exit code. */
    private int report(MeasuredRun run, Optional<ResultFile> file, Terminal terminal) {
        RunValidity verdict = run.verdict();
        ServeResult result = run.result(verdict, results.percentiles(), Optional.empty());
        file.ifPresent(to -> to.write(result));
        pages.write("run", () -> result);
        terminal.print(new ServeReport(results.metrics(), results.percentiles()).text(result));
        verdict.reasons().forEach(reason -> terminal.note("the run is invalid: " + reason));
        return verdict.isValid() ? 0 : INVALID;
    }
}
