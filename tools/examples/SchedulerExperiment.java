import io.roseinfer.LoadedModel;
import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.OnlineScheduler;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.Observers;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * The cost of a KV pool that is too small: the same seeded requests in ever smaller pools. A request without a free block is preempted:
 * it releases its blocks and recomputes its tokens later. Scheduler and block pool are the real ones; the device is simulated, so
 * nothing is computed and only steps and tokens are counted.
 *
 * <p>{@code tools/examples/run SchedulerExperiment}
 */
final class SchedulerExperiment {
    private static final int REQUESTS = 64;
    private static final int[] BLOCKS = {1024, 512, 384, 256, 192, 128};

    private SchedulerExperiment() {}

    public static void main(String[] args) {
        System.out.printf(
                Locale.ROOT, "%8s%8s%14s%18s%14s%n", "blocks", "steps", "preemptions", "tokens computed", "again");
        long least = 0;
        for (int blocks : BLOCKS) {
            Counts counts = run(blocks);
            least = least == 0 ? counts.tokens() : least;
            System.out.printf(
                    Locale.ROOT,
                    "%8d%8d%14d%18d%13.1f%%%n",
                    blocks,
                    counts.steps(),
                    counts.preemptions(),
                    counts.tokens(),
                    100.0 * (counts.tokens() - least) / least);
        }
    }

    /** The totals over all steps of a run. */
    record Counts(long steps, long preemptions, long tokens) {}

    private static Counts run(int blocks) {
        SchedulerOptions options = SchedulerOptions.builder().maxBatchSize(32).build();
        Settings settings = Settings.of("random:gpt2")
                .withDevice(Settings.Device.SIM)
                .withEngine(EngineOptions.defaults().withScheduler(options).withKvBlocks(blocks));
        try (LoadedModel model = Roseinfer.load(settings, (file, bytesSoFar, totalBytes) -> {})) {
            OnlineScheduler scheduler = new OnlineScheduler(model.runner(), options, () -> 0, 1 << 16, Observers.NONE);
            SplittableRandom random = new SplittableRandom(1);
            for (int i = 0; i < REQUESTS; i++) {
                int[] prompt = random.ints(random.nextInt(16, 256), 0, 50_000).toArray();
                long unused = scheduler.enqueue(prompt, random.nextInt(16, 256), SamplingParams.greedy(), 0, true);
            }
            while (scheduler.hasUnfinished()) {
                OnlineScheduler.StepTokens unused = scheduler.step();
            }
            return new Counts(scheduler.steps().size(), sum(scheduler, Fact.PREEMPTIONS), sum(scheduler, Fact.TOKENS));
        }
    }

    private static long sum(OnlineScheduler scheduler, Fact fact) {
        return scheduler.steps().stream().mapToLong(step -> step.get(fact)).sum();
    }
}
