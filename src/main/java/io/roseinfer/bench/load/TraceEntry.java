package io.roseinfer.bench.load;

import java.util.List;
import java.util.Optional;

/**
 * One request of a recorded load, whatever format it was read from.
 *
 * @param offsetNanos after the first one
 * @param inputTokens length of the prompt; 0 where only the text is known
 * @param outputTokens tokens that were generated; 0 where that is not known
 * @param blockHashes what the prompt's blocks contain: equal hashes at equal places are equal beginnings; empty where that is not known
 * @param blockSize tokens of a block
 * @param text the prompt itself, where it is known
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

    /** A request of which only the lengths are known. */
    static TraceEntry ofLengths(long offsetNanos, int inputTokens, int outputTokens) {
        return new TraceEntry(offsetNanos, inputTokens, outputTokens, List.of(), 1, Optional.empty());
    }

    TraceEntry withOffsetNanos(long value) {
        return new TraceEntry(value, inputTokens, outputTokens, blockHashes, blockSize, text);
    }
}
