package io.roseinfer.cli.flags;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.EvictionPolicy;
import io.roseinfer.scheduler.policy.PreemptionPolicy;
import io.roseinfer.scheduler.policy.StepPolicy;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Flags for the scheduler and the KV pool. */
@Heading("Scheduling")
public final class SchedulerFlags {
    private static final String FIFO = "fifo";
    private static final String DEFAULT = "default";
    private static final String NONE = "none";

    @Option(
            names = "--max-batch-size",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description =
                    "Maximum requests per decode step; excess requests run round-robin unless --max-active-requests queues them.")
    @Within(min = 1, max = SchedulerOptions.MAX_ROWS)
    private int maxBatchSize;

    @Option(
            names = "--prefill-max-batch-size",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Maximum requests admitted per iteration (default: --max-batch-size).",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 1, max = SchedulerOptions.MAX_ROWS)
    private Optional<Integer> prefillMaxBatchSize = Optional.empty();

    @Option(
            names = "--prefill-max-tokens",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Maximum prompt tokens per iteration (default: no limit).",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 1)
    private Optional<Integer> prefillMaxTokens = Optional.empty();

    @Option(
            names = "--prefill-admission-policy",
            paramLabel = "<fifo|pack|CLASS|FILE.java[:ARG]>",
            description = "Admission order: fifo (by arrival), pack (the shortest of the oldest first), or an"
                    + " AdmissionPolicy by class name or source file; ARG goes to its constructor.")
    private String admissionPolicy = FIFO;

    @Option(
            names = "--prefill-admission-lookahead",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Number of oldest requests that pack chooses from.")
    @Within(min = 1, max = AdmissionPolicy.MAX_LOOKAHEAD)
    private int admissionLookahead = 64;

    @Option(
            names = "--prefill-force-fifo-every",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Make every N-th iteration of pack first in, first out; 0 is never.")
    @Within(min = 0)
    private int forceFifoEvery;

    @Option(
            names = "--preemption-policy",
            paramLabel = "<youngest|CLASS|FILE.java[:ARG]>",
            description =
                    "Which request to preempt if the KV pool is full: the youngest, or the choice of a PreemptionPolicy by class name or"
                            + " source file.")
    private String preemptionPolicy = "youngest";

    @Option(
            names = "--kv-eviction-policy",
            paramLabel = "<lru|CLASS|FILE.java[:ARG]>",
            description =
                    "Which cached KV block to evict first: lru (the least recently used), or the choice of an EvictionPolicy by class name or"
                            + " source file.")
    private String evictionPolicy = "lru";

    @Option(
            names = "--step-policy",
            paramLabel = "<default|CLASS|FILE.java[:ARG]>",
            description =
                    "What a step runs: default alternates prefill and decode, or mixes them with --chunked-prefill; or the choice of a"
                            + " StepPolicy by class name or source file.")
    private String stepPolicy = DEFAULT;

    @Option(
            names = "--max-passes",
            paramLabel = "<N|none>",
            converter = MaxPasses.Reader.class,
            description =
                    "How often an admission policy may pass over a request before it is admitted next; none lets policies starve requests.")
    private MaxPasses maxPasses = new MaxPasses(AdmissionPolicy.MAX_PASSES);

    @Mixin
    private SpeculateFlag speculate = new SpeculateFlag();

    @Option(names = "--decode-first", description = "Decode before admitting requests in every iteration.")
    private boolean decodeFirst;

    @Option(
            names = "--max-active-requests",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Maximum requests that hold KV blocks (default: no limit).",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 1)
    private Optional<Integer> maxActiveRequests = Optional.empty();

    @Option(names = "--no-prefix-cache", description = "Do not share KV blocks between requests with a common prefix.")
    private boolean noPrefixCache;

    @Option(
            names = "--chunked-prefill",
            negatable = true,
            description =
                    "Split prompts into chunks that share steps with decode; a step has at most --prefill-max-tokens prompt tokens, and never more than 8192.")
    private boolean chunkedPrefill;

    @Option(
            names = "--kv-blocks",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Number of blocks in the KV pool; 0 lets the device choose.")
    @Within(min = 0)
    private int kvBlocks;

    @Option(
            names = "--block-size",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Tokens per KV block.")
    @Within(min = 1, max = RunnerLimits.MAX_BLOCK_SIZE)
    private int blockSize = 16;

    /** Creates flags whose default batch size favors latency. */
    public SchedulerFlags() {
        this(8);
    }

    private SchedulerFlags(int maxBatchSize) {
        this.maxBatchSize = maxBatchSize;
    }

    /** Returns flags whose default batch size favors throughput. */
    public static SchedulerFlags forThroughput() {
        return new SchedulerFlags(64);
    }

    /** Returns engine options with these flags, and defaults for the rest. */
    public EngineOptions engineOptions(long seed, Terminal terminal) {
        if (admissionPolicy.equals(FIFO) && (admissionLookahead != 64 || forceFifoEvery != 0)) {
            terminal.note("--prefill-admission-lookahead and --prefill-force-fifo-every have no effect without"
                    + " --prefill-admission-policy pack");
        }
        if (decodeFirst && !stepPolicy.equals(DEFAULT)) {
            terminal.note(
                    "--decode-first has no effect with --step-policy " + stepPolicy + ", which decides the order");
        } else if (decodeFirst && chunkedPrefill) {
            terminal.note("--decode-first has no effect with --chunked-prefill: every step decodes anyway");
        }
        return EngineOptions.defaults()
                .withScheduler(scheduler())
                .withBlockSize(blockSize)
                .withKvBlocks(kvBlocks)
                .withSeed(seed);
    }

    /** Returns the drafter as a user named it. */
    public String drafterName() {
        return speculate.name();
    }

    /** Returns the scheduler's options, with new policies; flags that name the same class share one object. */
    public SchedulerOptions scheduler() {
        Map<String, Object> made = new HashMap<>();
        SchedulerOptions.Builder builder = SchedulerOptions.builder()
                .maxBatchSize(maxBatchSize)
                .decodeFirst(decodeFirst)
                .admission(ExtensionChoice.of("--prefill-admission-policy", AdmissionPolicy.class)
                        .sharing(made)
                        .or(FIFO, AdmissionPolicy::fifo)
                        .or("pack", () -> AdmissionPolicy.pack(admissionLookahead, forceFifoEvery))
                        .make(admissionPolicy))
                .preemption(ExtensionChoice.of("--preemption-policy", PreemptionPolicy.class)
                        .sharing(made)
                        .or("youngest", PreemptionPolicy::youngest)
                        .make(preemptionPolicy))
                .eviction(ExtensionChoice.of("--kv-eviction-policy", EvictionPolicy.class)
                        .sharing(made)
                        .or("lru", EvictionPolicy::lru)
                        .make(evictionPolicy))
                .step(ExtensionChoice.of("--step-policy", StepPolicy.class)
                        .sharing(made)
                        .or(DEFAULT, () -> StepPolicy.standard(chunkedPrefill, decodeFirst))
                        .make(stepPolicy))
                .drafter(speculate.drafter())
                .maxPasses(maxPasses.count())
                .chunkedPrefill(chunkedPrefill)
                .prefixCache(!noPrefixCache);
        prefillMaxBatchSize.ifPresent(builder::prefillMaxBatchSize);
        prefillMaxTokens.ifPresent(builder::prefillMaxTokens);
        maxActiveRequests.ifPresent(builder::maxActiveRequests);
        return builder.build();
    }

    /** The value of {@code --max-passes}. */
    record MaxPasses(int count) {
        static final class Reader implements ITypeConverter<MaxPasses> {
            @Override
            public MaxPasses convert(String text) {
                if (text.equals(NONE)) {
                    return new MaxPasses(SchedulerOptions.UNLIMITED);
                }
                try {
                    int count = Integer.parseInt(text);
                    if (count >= 1) {
                        return new MaxPasses(count);
                    }
                } catch (NumberFormatException notNumber) {
                    // Reported below.
                }
                throw new TypeConversionException("'" + text + "' is not a positive integer or none");
            }
        }

        @Override
        public String toString() {
            return count == SchedulerOptions.UNLIMITED ? NONE : Integer.toString(count);
        }
    }
}
