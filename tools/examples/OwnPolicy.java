import io.roseinfer.LoadedModel;
import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.OnlineScheduler;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.Summary;
import io.roseinfer.observe.Observers;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * An admission policy of one's own beside first in, first out, over the same seeded arrivals: Poisson, with prompts and completions of
 * uneven lengths. The device is the simulated one and time is virtual, made of what each step computes, so the table is the same on
 * every machine and a difference in it is no noise.
 *
 * <p>{@code tools/examples/run OwnPolicy}
 */
final class OwnPolicy {
    private static final int REQUESTS = 400;
    private static final int SEEDS = 5;
    private static final double REQUESTS_PER_SECOND = 19;

    private OwnPolicy() {}

    /** The request with the least work left goes first; each time that it is passed over counts as eight tokens less. */
    static final class LeastWorkFirst implements AdmissionPolicy {
        @Override
        public int lookahead() {
            return 256;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return request.remainingTokens() + request.remainingNewTokens() - 8L * request.timesPassedOver();
        }
    }

    public static void main(String[] args) {
        System.out.printf(
                Locale.ROOT, "%-6s%24s%24s%24s%n", "", "first token p50, s", "last token p50, s", "last token max, s");
        System.out.printf(
                Locale.ROOT, "%-6s%12s%12s%12s%12s%12s%12s%n", "seed", "fifo", "own", "fifo", "own", "fifo", "own");
        for (int seed = 1; seed <= SEEDS; seed++) {
            Outcome fifo = run(AdmissionPolicy.fifo(), seed);
            Outcome own = run(new LeastWorkFirst(), seed);
            System.out.printf(
                    Locale.ROOT,
                    "%-6d%12.2f%12.2f%12.2f%12.2f%12.2f%12.2f%n",
                    seed,
                    fifo.first().p50(),
                    own.first().p50(),
                    fifo.last().p50(),
                    own.last().p50(),
                    fifo.last().max(),
                    own.last().max());
        }
    }

    /** Seconds from a request's arrival to its first and its last token, over all requests. */
    record Outcome(Summary first, Summary last) {}

    private static Outcome run(AdmissionPolicy policy, int seed) {
        SchedulerOptions options = SchedulerOptions.builder()
                .maxBatchSize(8)
                .maxActiveRequests(8)
                .admission(policy)
                .build();
        Settings settings = Settings.of("random:gpt2")
                .withDevice(Settings.Device.SIM)
                .withEngine(EngineOptions.defaults().withScheduler(options));
        try (LoadedModel model = Roseinfer.load(settings, (file, bytesSoFar, totalBytes) -> {})) {
            return serve(new OnlineScheduler(model.runner(), options, () -> 0, 1, Observers.NONE), seed);
        }
    }

    private static Outcome serve(OnlineScheduler scheduler, int seed) {
        SplittableRandom random = new SplittableRandom(seed);
        double[] arrival = new double[REQUESTS];
        double[] first = new double[REQUESTS];
        double[] last = new double[REQUESTS];
        for (int i = 1; i < REQUESTS; i++) {
            arrival[i] = arrival[i - 1] + random.nextExponential() / REQUESTS_PER_SECOND;
        }
        double now = 0;
        for (int arrived = 0; arrived < REQUESTS || scheduler.hasUnfinished(); ) {
            if (!scheduler.hasUnfinished()) {
                now = Math.max(now, arrival[arrived]);
            }
            for (; arrived < REQUESTS && arrival[arrived] <= now; arrived++) {
                // Ids count from zero, so a request's id is its place in the arrays.
                int[] prompt = random.ints(random.nextInt(16, 512), 0, 50_000).toArray();
                long unused = scheduler.enqueue(prompt, random.nextInt(4, 128), SamplingParams.greedy(), 0, true);
            }
            OnlineScheduler.StepTokens tokens = scheduler.step();
            now += seconds(scheduler.steps().getLast());
            for (int i = 0; i < tokens.size(); i++) {
                int request = (int) tokens.requestId(i);
                first[request] = first[request] == 0 ? now - arrival[request] : first[request];
                last[request] = now - arrival[request];
            }
        }
        return new Outcome(Summary.of(first), Summary.of(last));
    }

    /** A model of a device: 4 ms to read the weights, and 50 µs for each token. */
    private static double seconds(StepRecord step) {
        return 4e-3 + 50e-6 * step.get(Fact.TOKENS);
    }
}
