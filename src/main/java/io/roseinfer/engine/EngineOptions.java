package io.roseinfer.engine;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.Objects;

/**
 * Options of an engine. Immutable; {@code with…} methods return modified copies.
 *
 * @param scheduler options of the scheduler
 * @param blockSize tokens per KV block
 * @param kvBlocks blocks in the KV pool; 0 lets the backend choose. An engine may use fewer than its runner was loaded
 *     with
 * @param maxInflightRequests maximum requests in flight; further ones are rejected as overloaded
 * @param streamInterval tokens between deliveries to a stream; the first token is always delivered immediately
 * @param tokenizeWorkers threads that tokenize prompts; 0 tokenizes in {@code submit}
 * @param stepHistory number of latest steps whose records are kept
 * @param seed base seed for requests without their own
 */
public record EngineOptions(
        SchedulerOptions scheduler,
        int blockSize,
        int kvBlocks,
        int maxInflightRequests,
        int streamInterval,
        int tokenizeWorkers,
        int stepHistory,
        long seed) {
    /** Maximum tokenizer threads. */
    public static final int MAX_TOKENIZE_WORKERS = 256;

    /** Maximum step history, about 70 MB. */
    public static final int MAX_STEP_HISTORY = 1 << 19;

    public EngineOptions {
        Objects.requireNonNull(scheduler, "scheduler");
        BadInput.require(
                blockSize >= 1 && blockSize <= RunnerLimits.MAX_BLOCK_SIZE,
                "block_size",
                blockSize,
                "1 to " + RunnerLimits.MAX_BLOCK_SIZE);
        BadInput.require(kvBlocks >= 0, "kv_blocks", kvBlocks, "positive, or 0 to let the backend choose");
        BadInput.require(maxInflightRequests >= 1, "max_inflight_requests", maxInflightRequests, "positive");
        BadInput.require(streamInterval >= 1, "stream_interval", streamInterval, "positive");
        BadInput.require(
                tokenizeWorkers >= 0 && tokenizeWorkers <= MAX_TOKENIZE_WORKERS,
                "tokenize_workers",
                tokenizeWorkers,
                "0 to " + MAX_TOKENIZE_WORKERS);
        BadInput.require(
                stepHistory >= 1 && stepHistory <= MAX_STEP_HISTORY,
                "step_history",
                stepHistory,
                "1 to " + MAX_STEP_HISTORY);
    }

    /**
     * Returns the defaults: blocks of 16 tokens, the backend's choice of pool, 65,536 requests in flight, immediate
     * delivery of every token, records of 4096 steps.
     */
    public static EngineOptions defaults() {
        return new EngineOptions(SchedulerOptions.defaults(), 16, 0, 65_536, 1, 0, 4096, 0);
    }

    /** Returns a copy with other options of the scheduler. */
    public EngineOptions withScheduler(SchedulerOptions value) {
        return new EngineOptions(
                value, blockSize, kvBlocks, maxInflightRequests, streamInterval, tokenizeWorkers, stepHistory, seed);
    }

    /**
     * Returns a copy with another number of tokens per KV block.
     *
     * @throws BadInput unless it is 1 to {@value io.roseinfer.backend.RunnerLimits#MAX_BLOCK_SIZE}
     */
    public EngineOptions withBlockSize(int value) {
        return new EngineOptions(
                scheduler, value, kvBlocks, maxInflightRequests, streamInterval, tokenizeWorkers, stepHistory, seed);
    }

    /**
     * Returns a copy with a number of KV blocks; 0 lets the backend choose.
     *
     * @throws BadInput if it is negative
     */
    public EngineOptions withKvBlocks(int value) {
        return new EngineOptions(
                scheduler, blockSize, value, maxInflightRequests, streamInterval, tokenizeWorkers, stepHistory, seed);
    }

    /**
     * Returns a copy with a maximum number of requests in flight.
     *
     * @throws BadInput unless it is positive
     */
    public EngineOptions withMaxInflightRequests(int value) {
        return new EngineOptions(
                scheduler, blockSize, kvBlocks, value, streamInterval, tokenizeWorkers, stepHistory, seed);
    }

    /**
     * Returns a copy with a number of tokens between deliveries.
     *
     * @throws BadInput unless it is positive
     */
    public EngineOptions withStreamInterval(int value) {
        return new EngineOptions(
                scheduler, blockSize, kvBlocks, maxInflightRequests, value, tokenizeWorkers, stepHistory, seed);
    }

    /**
     * Returns a copy with a number of tokenizer threads; 0 tokenizes in {@code submit}.
     *
     * @throws BadInput unless it is 0 to {@value #MAX_TOKENIZE_WORKERS}
     */
    public EngineOptions withTokenizeWorkers(int value) {
        return new EngineOptions(
                scheduler, blockSize, kvBlocks, maxInflightRequests, streamInterval, value, stepHistory, seed);
    }

    /**
     * Returns a copy with a number of steps whose records are kept.
     *
     * @throws BadInput unless it is 1 to {@value #MAX_STEP_HISTORY}
     */
    public EngineOptions withStepHistory(int value) {
        return new EngineOptions(
                scheduler, blockSize, kvBlocks, maxInflightRequests, streamInterval, tokenizeWorkers, value, seed);
    }

    /** Returns a copy with a base seed for requests without their own. */
    public EngineOptions withSeed(long value) {
        return new EngineOptions(
                scheduler,
                blockSize,
                kvBlocks,
                maxInflightRequests,
                streamInterval,
                tokenizeWorkers,
                stepHistory,
                value);
    }
}
