package io.roseinfer.cli.flags;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.load.Conversations;
import io.roseinfer.bench.load.JsonlPrompts;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.bench.load.RandomPrompts;
import io.roseinfer.bench.load.SyntheticTrace;
import io.roseinfer.bench.load.Tenant;
import io.roseinfer.bench.load.Trace;
import io.roseinfer.bench.load.TraceFormat;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.IntFunction;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** Flags for the prompts and lengths of requests, generated or read from a file. */
@Heading("Load")
public final class DatasetFlags {
    /** The source of requests. */
    public enum Dataset {
        RANDOM,
        JSONL,
        SYNTHETIC,
        MOONCAKE,
        BAILIAN,
        AZURE,
        BURSTGPT,
        SHAREGPT
    }

    /**
     * The requests of a dataset.
     *
     * @param requests in order
     * @param hasTimes whether they have times
     * @param counts counts of clipped and omitted requests, by name; empty for datasets that are never clipped
     * @param changes the nonzero counts in one line; empty if nothing was clipped or omitted
     */
    public record Requests(List<OfferedRequest> requests, boolean hasTimes, Map<String, Long> counts, String changes) {
        private static Requests of(OfferedLoad load) {
            return new Requests(load.requests(), load.isScheduled(), Map.of(), "");
        }
    }

    /**
     * A dataset before its prompts are made.
     *
     * @param hasTimes whether its requests have times
     * @param ofContext makes the requests, clipped to a context length
     */
    public record Source(boolean hasTimes, IntFunction<Requests> ofContext) {
        public Requests requests(int contextLength) {
            return ofContext.apply(contextLength);
        }
    }

    private static final int INPUT_LENGTH = 1024;
    private static final int OUTPUT_LENGTH = 128;

    @Option(
            names = {"--dataset", "--dataset-name"},
            paramLabel = "<KIND>",
            defaultValue = "random",
            description = {
                "random: random token ids; synthetic: conversations that share system prompts;",
                "jsonl: a request per line, with prompt (text or token ids) and optional fields, such as output_tokens and tenant;",
                "mooncake, bailian, azure, burstgpt, sharegpt: traces in these formats."
            })
    private Dataset dataset = Dataset.RANDOM;

    @Option(
            names = "--dataset-path",
            paramLabel = "<FILE>",
            description = "File with the dataset, if its kind needs one.",
            showDefaultValue = Visibility.NEVER)
    private Optional<Path> path = Optional.empty();

    @Option(
            names = "--random-input-len",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description =
                    "Mean prompt length of random requests in tokens (default: 1024, less if an in-process engine's context is smaller).",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 1, max = Limits.PROMPT_CHARS)
    private int inputLength = INPUT_LENGTH;

    @Option(
            names = {"--random-output-len", "--output-len"},
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description =
                    "Mean output length of random requests in tokens, and of requests in a file that specify none (default: 128, less if"
                            + " an in-process engine's context is smaller).",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 1)
    private int outputLength = OUTPUT_LENGTH;

    @Option(
            names = "--random-range-ratio",
            paramLabel = "<X>",
            preprocessor = Within.Check.class,
            description = "Lengths are uniform in [N * (1 - X), N * (1 + X)].")
    @Within(min = 0, below = 1)
    private double rangeRatio;

    @Option(
            names = "--random-prefix-len",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Length of the prefix that all random prompts share, in tokens.")
    @Within(min = 0)
    private int prefixLength;

    @Option(
            names = "--random-vocab-size",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Random token ids are below this; every byte-level BPE model has 256.")
    @Within(min = 1)
    private int vocabularySize = 256;

    @Option(
            names = "--random-max-tokens",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description =
                    "max_tokens of random requests, which policies see; on --backend sim and with --ignore-eos, requests end at their own"
                            + " length (default: that length).",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 1)
    private Optional<Integer> maxTokens = Optional.empty();

    @Option(
            names = "--random-prediction-error",
            paramLabel = "<S>",
            preprocessor = Within.Check.class,
            description =
                    "Predict lengths of random requests for policies, with a log-normal error of standard deviation S; 0 predicts exactly"
                            + " (default: no prediction).",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 0, max = 10)
    private Optional<Double> predictionError = Optional.empty();

    @Option(
            names = "--conversation-turns",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description =
                    "Join random requests into conversations of N turns on average: the prompt of a turn follows the previous prompt and its"
                            + " answer. --request-rate then counts conversations.")
    @Within(min = 1)
    private double conversationTurns = 1;

    @Option(
            names = "--think-time-s",
            paramLabel = "<S>",
            preprocessor = Within.Check.class,
            description = "Mean time from the end of an answer until the next turn of its conversation is sent.")
    @Within(min = 0)
    private double thinkSeconds;

    @Option(
            names = "--tenant",
            paramLabel = "<NAME:KEY=VALUE,...>",
            description = {
                "A tenant of the load, as in flood:share=8,slo=batch; repeat it for each. Keys: share of the requests (default 1), slo,"
                        + " priority, deadline_ms;",
                "for random requests also input and output, the mean lengths."
            },
            showDefaultValue = Visibility.NEVER)
    private List<String> tenants = List.of();

    @Option(
            names = "--clip-to",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Clip trace requests to N tokens, prompt plus completion, and report how many were clipped.",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 1)
    private Optional<Integer> clipTo = Optional.empty();

    private boolean isFitted;

    /**
     * Shortens the default lengths of random requests until prompt and completion fit a context. Lengths given by flags are kept.
     *
     * @return a note about the new lengths; empty if nothing changed
     */
    public Optional<String> fitLengths(CommandSpec command, int contextLength) {
        boolean inputGiven = ExplicitFlags.has(command, "--random-input-len");
        boolean outputGiven = ExplicitFlags.has(command, "--random-output-len");
        if (dataset != Dataset.RANDOM || (inputGiven && outputGiven)) {
            return Optional.empty();
        }
        // Lengths of a range are rounded, possibly up.
        int room = (int) ((contextLength - prefixLength) / (1 + rangeRatio)) - (rangeRatio > 0 ? 1 : 0);
        int output = outputGiven ? outputLength : Math.min(OUTPUT_LENGTH, inputGiven ? room - inputLength : room / 2);
        int input = inputGiven ? inputLength : Math.min(INPUT_LENGTH, room - output);
        if (input < 1 || output < 1) {
            return Optional.empty();
        }
        inputLength = input;
        outputLength = output;
        isFitted = (!inputGiven && input < INPUT_LENGTH) || (!outputGiven && output < OUTPUT_LENGTH);
        return isFitted
                ? Optional.of("requests have " + input + " prompt tokens and " + output
                        + " completion tokens: the defaults, " + INPUT_LENGTH + " and " + OUTPUT_LENGTH
                        + ", exceed the context of " + contextLength + " tokens")
                : Optional.empty();
    }

    /** Returns the lengths chosen by {@link #fitLengths} as arguments; empty if it changed none. */
    public List<String> fittedLengths() {
        return isFitted
                ? List.of("--random-input-len=" + inputLength, "--random-output-len=" + outputLength)
                : List.of();
    }

    /** Returns the rate of the requests' times, infinite for a file; empty if they have no times. */
    OptionalDouble ownRate() {
        return switch (dataset) {
            case RANDOM, SHAREGPT -> OptionalDouble.empty();
            case SYNTHETIC -> OptionalDouble.of(1);
            case JSONL, MOONCAKE, BAILIAN, AZURE, BURSTGPT -> OptionalDouble.of(Double.POSITIVE_INFINITY);
        };
    }

    /**
     * Reads or generates a number of requests; a file may have fewer.
     *
     * @param isSimulated whether they are for simulated time
     */
    public Source read(int count, long seed, double burstiness, boolean isSimulated) {
        if (clipTo.isPresent() && (dataset == Dataset.RANDOM || dataset == Dataset.JSONL)) {
            throw new BadInput("--clip-to applies to traces and synthetic conversations; leave it out with --dataset "
                    + Choices.word(dataset));
        }
        if (dataset != Dataset.RANDOM && (maxTokens.isPresent() || predictionError.isPresent())) {
            throw new BadInput(
                    (maxTokens.isPresent() ? "--random-max-tokens" : "--random-prediction-error")
                            + " applies to --dataset random; leave it out, or give max_tokens and predicted_tokens in a jsonl file");
        }
        if (dataset != Dataset.RANDOM && conversationTurns > 1) {
            throw new BadInput(
                    "--conversation-turns applies to --dataset random; leave it out, or give conversation and"
                            + " think_ms in a jsonl file");
        }
        if (thinkSeconds > 0 && conversationTurns == 1) {
            throw new BadInput("--think-time-s is between turns; add --conversation-turns N");
        }
        return switch (dataset) {
            case RANDOM -> fixed(new OfferedLoad(random(count, seed), OfferedLoad.Pacing.BURST));
            case JSONL -> {
                OfferedLoad load = JsonlPrompts.read(file(), count, outputLength, isSimulated);
                yield fixed(new OfferedLoad(Tenant.assign(tenants(), load.requests(), seed), load.pacing()));
            }
            case SYNTHETIC ->
                replay(new SyntheticTrace(inputLength, outputLength, burstiness, seed).trace(count), seed);
            case MOONCAKE -> replay(TraceFormat.MOONCAKE.read(file(), count), seed);
            case BAILIAN -> replay(TraceFormat.BAILIAN.read(file(), count), seed);
            case AZURE -> replay(TraceFormat.AZURE.read(file(), count), seed);
            case BURSTGPT -> replay(TraceFormat.BURSTGPT.read(file(), count), seed);
            case SHAREGPT -> replay(TraceFormat.SHAREGPT.read(file(), count), seed);
        };
    }

    /** Returns the names of the tenants that flags define. */
    public List<String> tenantNames() {
        return tenants().stream()
                .flatMap(tenant -> tenant.traits().tenant().stream())
                .toList();
    }

    private List<Tenant> tenants() {
        List<Tenant> parsed =
                tenants.stream().map(text -> Tenant.parse("--tenant", text)).toList();
        Set<String> names = new HashSet<>();
        for (Tenant tenant : parsed) {
            String name = tenant.traits().tenant().orElseThrow();
            if (!names.add(name)) {
                throw new BadInput("--tenant defines '" + name + "' twice; leave one out");
            }
        }
        return parsed;
    }

    private List<OfferedRequest> random(int count, long seed) {
        List<OfferedRequest> requests = new RandomPrompts(
                        inputLength, outputLength, rangeRatio, prefixLength, vocabularySize, seed)
                .requests(count, tenants());
        if (maxTokens.isPresent()) {
            int max = maxTokens.get();
            int longest = requests.stream()
                    .mapToInt(OfferedRequest::outputTokens)
                    .max()
                    .orElse(0);
            if (longest > max) {
                throw new BadInput("--random-max-tokens is " + max + ", but a request has " + longest
                        + " output tokens; it must be at least that");
            }
            requests = requests.stream()
                    .map(request -> request.withTraits(request.traits().withMaxTokens(max)))
                    .toList();
        }
        if (predictionError.isPresent()) {
            requests = RandomPrompts.predicted(requests, predictionError.get(), seed);
        }
        return conversationTurns == 1
                ? requests
                : new Conversations(conversationTurns, thinkSeconds, prefixLength, seed).of(requests);
    }

    /** Returns whether prompts of token ids are generated, so that any text of the same length does as well. */
    public boolean isGenerated() {
        return dataset != Dataset.JSONL;
    }

    /** Returns whether the requests are read from a file. */
    public boolean isFile() {
        return dataset != Dataset.RANDOM && dataset != Dataset.SYNTHETIC;
    }

    /** Returns the mean requests per conversation. */
    double conversationTurns() {
        return conversationTurns;
    }

    private static Source fixed(OfferedLoad load) {
        return new Source(load.isScheduled(), context -> Requests.of(load));
    }

    private Source replay(Trace trace, long seed) {
        return new Source(trace.hasTimes(), context -> {
            int most = Math.min(context, clipTo.orElse(context));
            Trace.Replay replay = trace.replay(new Trace.Terms(outputLength, most, vocabularySize, seed));
            return new Requests(
                    Tenant.assign(tenants(), replay.requests(), seed),
                    trace.hasTimes(),
                    replay.counts(),
                    replay.changes());
        });
    }

    private Path file() {
        return path.orElseThrow(
                () -> new BadInput("--dataset " + Choices.word(dataset) + " needs a file; add --dataset-path FILE"));
    }
}
