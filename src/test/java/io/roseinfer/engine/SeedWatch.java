package io.roseinfer.engine;

import com.sun.management.OperatingSystemMXBean;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.time.Duration;

/**
 * Ends the process if a seed does not come to an end, and names the seed. It counts the process's processor time, not the time of day:
 * a busy machine makes a seed slow, but not more work.
 */
final class SeedWatch {
    private static final long LIMIT_NANOS = Duration.ofMinutes(2).toNanos();
    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private record Running(long seed, Trace trace, long sinceNanos) {}

    private final PrintStream out;
    private final Thread watched = Thread.currentThread();
    private volatile Running running = new Running(0, Trace.silent(), Long.MAX_VALUE);

    private SeedWatch(PrintStream out) {
        this.out = out;
    }

    /** Watches the seeds that the calling thread runs. */
    static SeedWatch start(PrintStream out) {
        SeedWatch watch = new SeedWatch(out);
        Thread.ofPlatform().daemon().name("seed-watch").start(watch::watch);
        return watch;
    }

    /** The next seed begins. */
    void begin(long seed, Trace trace) {
        running = new Running(seed, trace, PROCESS.getProcessCpuTime());
    }

    private void watch() {
        try {
            while (true) {
                Thread.sleep(Duration.ofSeconds(1));
                Running now = running;
                if (PROCESS.getProcessCpuTime() - now.sinceNanos() > LIMIT_NANOS) {
                    out.println("HANGS " + now.seed() + ": repeat it with tools/sim --seed " + now.seed()
                            + "; events last:");
                    out.println(now.trace().tail());
                    for (StackTraceElement at : watched.getStackTrace()) {
                        out.println("    at " + at);
                    }
                    System.exit(1);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
