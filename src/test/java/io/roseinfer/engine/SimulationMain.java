package io.roseinfer.engine;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Optional;
import java.util.function.LongFunction;

/** Runs simulations from the command line; started by {@code tools/sim}. */
final class SimulationMain {
    private static final String USAGE = """
            tools/sim --seed N [--trace]   one seed, with its settings and what happened
            tools/sim --seeds K [--from N]   K seeds from N on (0), a line per failure
            tools/sim --soak [K [R [N]]]   the threaded engine: K set-ups (2500) of R requests (400), seeds from N (the time)\
            """;

    private final PrintStream out;
    private final SeedWatch watch;
    private final LongFunction<String> threads = new PlantingLoader(Optional.empty()).threads();

    private SimulationMain(PrintStream out) {
        this.out = out;
        this.watch = SeedWatch.start(out);
    }

    /** Exits with 0 if every seed passed, 1 if one failed, 2 if the arguments are invalid. */
    public static void main(String[] args) {
        if (args.length > 0 && args[0].equals("--soak")) {
            System.exit(ThreadedSoak.run(System.out, Arrays.copyOfRange(args, 1, args.length)));
        }
        System.exit(new SimulationMain(System.out).run(Arrays.asList(args).iterator()));
    }

    private int run(Iterator<String> args) {
        long from = 0;
        long seeds = 0;
        boolean single = false;
        boolean trace = false;
        try {
            while (args.hasNext()) {
                switch (args.next()) {
                    case "--seed" -> {
                        from = Long.decode(args.next());
                        single = true;
                    }
                    case "--seeds" -> seeds = Long.decode(args.next());
                    case "--from" -> from = Long.decode(args.next());
                    case "--trace" -> trace = true;
                    default -> throw new IllegalArgumentException();
                }
            }
        } catch (RuntimeException e) {
            seeds = -1;
        }
        if (single == seeds > 0 || seeds < 0 || (trace && !single)) {
            out.println(USAGE);
            return 2;
        }
        return single ? one(from, trace) : many(from, seeds);
    }

    private int one(long seed, boolean trace) {
        out.println(SimulationSettings.of(seed));
        try {
            Trace events = trace ? Trace.printing(out::println) : Trace.silent();
            watch.begin(seed, events);
            out.println(Simulation.run(seed, events));
            OnlineSimulation.run(seed);
            out.println(threads.apply(seed));
            return 0;
        } catch (AssertionError e) {
            e.printStackTrace(out);
            return 1;
        }
    }

    private int many(long from, long seeds) {
        long start = System.nanoTime();
        long failed = 0;
        long requests = 0;
        long steps = 0;
        long preemptions = 0;
        for (long seed = from; seed < from + seeds; seed++) {
            try {
                Trace trace = Trace.silent();
                watch.begin(seed, trace);
                Simulation.Outcome outcome = Simulation.run(seed, trace);
                OnlineSimulation.run(seed);
                String unused = threads.apply(seed);
                requests += outcome.requests();
                steps += outcome.steps();
                preemptions += outcome.preemptions();
            } catch (AssertionError e) {
                failed++;
                out.println("FAILED " + seed + ": " + e.getMessage());
            }
        }
        out.printf(
                "%d of %d seeds failed; %d requests, %d steps, %d preemptions in %.1f s%n",
                failed, seeds, requests, steps, preemptions, (System.nanoTime() - start) * 1e-9);
        return failed == 0 ? 0 : 1;
    }
}
