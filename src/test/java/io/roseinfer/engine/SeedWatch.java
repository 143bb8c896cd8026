package io.roseinfer.engine;

import com.sun.management.OperatingSystemMXBean;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.time.Duration;

/**
 * Ends the process if a seed hangs, and reports the seed. The limit is on the process's CPU time, not wall time: a busy
 * machine makes a seed slow but not more expensive.
 */
final class SeedWatch {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    /** Number of checks within the limit. */
    private static final int LOOKS = 100;

    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private record Running(long seed, Trace trace, long sinceNanos) {}

    private final PrintStream out;
    private final Duration limit;
    private final Runnable end;
    private final Thread watched = Thread.currentThread();
    private volatile Running running = new Running(0, Trace.silent(), Long.MAX_VALUE);

    private SeedWatch(PrintStream out, Duration limit, Runnable end) {
        this.out = out;
        this.limit = limit;
        this.end = end;
    }

    /** Watches the seeds run by the calling thread. */
    static SeedWatch start(PrintStream out) {
        return start(out, LIMIT, () -> System.exit(1));
    }

    /**
     * Watches the seeds run by the calling thread.
     *
     * @param limit maximum CPU time of a seed
     * @param end run after a hanging seed has been reported
     */
    static SeedWatch start(PrintStream out, Duration limit, Runnable end) {
        SeedWatch watch = new SeedWatch(out, limit, end);
        Thread.ofPlatform().daemon().name("seed-watch").start(watch::watch);
        return watch;
    }

    /** Starts the next seed. */
    void begin(long seed, Trace trace) {
        running = new Running(seed, trace, PROCESS.getProcessCpuTime());
    }

    private void watch() {
        try {
            while (true) {
                Thread.sleep(limit.dividedBy(LOOKS));
                Running now = running;
                if (PROCESS.getProcessCpuTime() - now.sinceNanos() > limit.toNanos()) {
                    out.println("HANGS " + now.seed() + ": repeat it with tools/sim --seed " + now.seed()
                            + "; events last:");
                    out.println(now.trace().tail());
                    for (StackTraceElement at : watched.getStackTrace()) {
                        out.println("    at " + at);
                    }
                    end.run();
                    return;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
