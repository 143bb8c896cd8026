package io.roseinfer.cli.flags;

import io.roseinfer.engine.EngineOptions;
import picocli.CommandLine.Option;

/** How requests get into an engine and their tokens out of it. */
public final class DeliveryFlags {
    @Option(
            names = "--max-inflight-requests",
            paramLabel = "<N>",
            converter = Ranges.Positive.class,
            description = "Most requests accepted and not ended; more are rejected.")
    private int maxInflightRequests = EngineOptions.defaults().maxInflightRequests();

    @Option(
            names = "--stream-interval",
            paramLabel = "<N>",
            converter = Ranges.Positive.class,
            description = "Tokens per delivery to a stream.")
    private int streamInterval = 1;

    @Option(
            names = "--tokenize-workers",
            paramLabel = "<N>",
            converter = Ranges.TokenizeWorkers.class,
            description = "Threads that tokenize off the submit path; 0 tokenizes in the submit call.")
    private int tokenizeWorkers;

    public int tokenizeWorkers() {
        return tokenizeWorkers;
    }

    public int streamInterval() {
        return streamInterval;
    }

    /** The options with these flags in force. */
    public EngineOptions addTo(EngineOptions options) {
        return options.withMaxInflightRequests(maxInflightRequests)
                .withStreamInterval(streamInterval)
                .withTokenizeWorkers(tokenizeWorkers);
    }
}
