package io.roseinfer.cli.flags;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.load.JsonlPrompts;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.bench.load.RandomPrompts;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** What requests ask for: made up, or read from a file. */
public final class DatasetFlags {
    /** Where requests come from. */
    public enum Dataset {
        RANDOM,
        JSONL
    }

    static final class Kind extends Choices.Choice<Dataset> {
        Kind() {
            super(Dataset.class);
        }
    }

    @Option(
            names = {"--dataset", "--dataset-name"},
            paramLabel = "<KIND>",
            converter = Kind.class,
            description = {
                "random makes prompts of random token ids; jsonl reads a line for each request, with prompt (text or ids)",
                "and perhaps output_tokens."
            })
    private Dataset dataset = Dataset.RANDOM;

    @Option(
            names = "--dataset-path",
            paramLabel = "<FILE>",
            description = "The file of a data set that has one.",
            showDefaultValue = Visibility.NEVER)
    private Optional<Path> path = Optional.empty();

    @Option(
            names = "--random-input-len",
            paramLabel = "<N>",
            converter = Ranges.PromptLength.class,
            description = "Mean tokens of a random prompt.")
    private int inputLength = 1024;

    @Option(
            names = {"--random-output-len", "--output-len"},
            paramLabel = "<N>",
            converter = Ranges.Positive.class,
            description = "Mean tokens that a random request asks for, and those of a request in a file that does not say.")
    private int outputLength = 128;

    @Option(
            names = "--random-range-ratio",
            paramLabel = "<X>",
            converter = Ranges.BelowOne.class,
            description = "Lengths are uniform in [N * (1 - X), N * (1 + X)].")
    private double rangeRatio;

    @Option(
            names = "--random-prefix-len",
            paramLabel = "<N>",
            converter = Ranges.NotNegative.class,
            description = "Tokens that all random prompts begin with.")
    private int prefixLength;

    @Option(
            names = "--random-vocab-size",
            paramLabel = "<N>",
            converter = Ranges.Positive.class,
            description = "Random token ids are below this; every model of byte-level BPE has 256.")
    private int vocabularySize = 256;

    public Dataset dataset() {
        return dataset;
    }

    /** So many requests, all due at the start; a file may have fewer. */
    public List<OfferedRequest> requests(int count, long seed) {
        return switch (dataset) {
            case RANDOM -> random(count, seed);
            case JSONL -> JsonlPrompts.read(file(), count, outputLength);
        };
    }

    /** So many made-up requests of the lengths that the flags say, which share no id with those of another seed. */
    public List<OfferedRequest> random(int count, long seed) {
        return new RandomPrompts(inputLength, outputLength, rangeRatio, prefixLength, vocabularySize, seed)
                .requests(count);
    }

    private Path file() {
        return path.orElseThrow(() -> new BadInput(
                "--dataset " + Choices.word(dataset) + " is read from a file; name it with --dataset-path FILE"));
    }
}
