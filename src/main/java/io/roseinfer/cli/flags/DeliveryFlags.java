package io.roseinfer.cli.flags;

import io.roseinfer.engine.EngineOptions;
import java.util.Optional;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** Flags for submitting requests to an engine and delivering their tokens. */
@Heading("Scheduling")
public final class DeliveryFlags {
    @Option(
            names = "--max-inflight-requests",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = {
                "Maximum in-flight requests; further ones are rejected",
                "(default: 65536; bench serve raises it to its number of requests)."
            },
            showDefaultValue = Visibility.NEVER)
    @Within(min = 1)
    private Optional<Integer> maxInflightRequests = Optional.empty();

    @Option(
            names = "--stream-interval",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Tokens per stream delivery.")
    @Within(min = 1)
    private int streamInterval = 1;

    @Option(
            names = "--tokenize-workers",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Tokenizer threads; 0 tokenizes in the submit call.")
    @Within(min = 0, max = EngineOptions.MAX_TOKENIZE_WORKERS)
    private int tokenizeWorkers;

    public int tokenizeWorkers() {
        return tokenizeWorkers;
    }

    public int streamInterval() {
        return streamInterval;
    }

    /** Returns options with these flags applied; without {@code --max-inflight-requests} the maximum of the options is kept. */
    public EngineOptions addTo(EngineOptions options) {
        return options.withMaxInflightRequests(maxInflightRequests.orElse(options.maxInflightRequests()))
                .withStreamInterval(streamInterval)
                .withTokenizeWorkers(tokenizeWorkers);
    }
}
