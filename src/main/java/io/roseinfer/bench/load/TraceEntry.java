package io.roseinfer.bench.load;

import java.util.List;
import java.util.Optional;

/**
 * A request of a trace, independent of the file format.
 *
 * @param offsetNanos time after the first request
 * @param inputTokens length of the prompt; 0 if only the text is known
 * @param outputTokens generated tokens; 0 if unknown
 * @param blockHashes hashes of the prompt's blocks: prompts with equal leading hashes share a prefix; empty if unknown
 * @param blockSize tokens per block
 * @param text the prompt's text, if known
 */
record TraceEntry(
        long offsetNanos,
        int inputTokens,
        int outputTokens,
        List<Long> blockHashes,
        int blockSize,
        Optional<String> text) {
    TraceEntry {
        blockHashes = List.copyOf(blockHashes);
    }

    /** Creates an entry with only lengths. */
    static TraceEntry ofLengths(long offsetNanos, int inputTokens, int outputTokens) {
        return new TraceEntry(offsetNanos, inputTokens, outputTokens, List.of(), 1, Optional.empty());
    }

    TraceEntry withOffsetNanos(long value) {
        return new TraceEntry(value, inputTokens, outputTokens, blockHashes, blockSize, text);
    }
}
