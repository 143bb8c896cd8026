package io.roseinfer.backend;

import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.TokenHistory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Drives a runner directly: sequences with their own blocks, and steps of any mix of their tokens. */
public final class StepDriver implements AutoCloseable {
    public static final int TOPS = SamplingParams.MAX_LOGPROBS;

    /** A sequence: tokens, number of computed tokens, blocks. */
    public static final class Sequence implements TokenHistory {
        public int[] tokens;
        public int computed;
        public int[] blocks = {};
        private int promptLength = Integer.MAX_VALUE;

        public Sequence(int... tokens) {
            this.tokens = tokens;
        }

        /** Makes tokens from {@code length} on a completion; without it all are the prompt. Returns this sequence. */
        public Sequence withPrompt(int length) {
            promptLength = length;
            return this;
        }

        public void append(int token) {
            tokens = Arrays.copyOf(tokens, tokens.length + 1);
            tokens[tokens.length - 1] = token;
        }

        @Override
        public int promptLength() {
            return Math.min(promptLength, tokens.length);
        }

        @Override
        public int length() {
            return tokens.length;
        }

        @Override
        public int token(int index) {
            return tokens[index];
        }
    }

    /** The result of a sample. */
    public record Sampled(
            StepOutputs.Status status, int token, float logprob, List<Integer> tops, List<Float> logprobs) {}

    public final ModelRunner runner;
    public final StepInputs inputs;
    public final StepOutputs outputs;
    public SamplingParams params = SamplingParams.greedy().withLogprobs(TOPS);
    public long seed = 7;
    private int nextBlock;

    public StepDriver(ModelRunner runner) {
        this.runner = runner;
        this.inputs = runner.newInputs();
        this.outputs = runner.newOutputs();
        inputs.clear();
    }

    /** Adds the sequence's next {@code count} tokens to the step. */
    public StepDriver add(Sequence sequence, int count, boolean sample) {
        int last = sequence.computed + count - 1;
        return sample ? addSampling(sequence, count, last) : addSampling(sequence, count);
    }

    /** Adds the sequence's next {@code count} tokens to the step, with samples after the tokens at these positions. */
    public StepDriver addSampling(Sequence sequence, int count, int... positions) {
        addTo(inputs, sequence, count, positions);
        return this;
    }

    /** Adds tokens to other inputs than the driver's. */
    void addTo(StepInputs inputs, Sequence sequence, int count, int... positions) {
        int length = sequence.computed + count;
        int held = sequence.blocks.length;
        sequence.blocks = Arrays.copyOf(sequence.blocks, runner.kv().blocksFor(length));
        for (int i = held; i < sequence.blocks.length; i++) {
            // From the end of the pool, so that consecutive blocks of a sequence are not adjacent in memory.
            sequence.blocks[i] = runner.kv().blocks() - 1 - nextBlock++;
        }
        inputs.beginRow(sequence.computed, sequence.blocks);
        for (int p = sequence.computed; p < length; p++) {
            inputs.addToken(sequence.tokens[p]);
        }
        inputs.endRow();
        for (int position : positions) {
            int token = inputs.tokens() - length + position;
            inputs.sample(token, new SampleRequest(params, seed, sequence));
        }
        sequence.computed = length;
    }

    public List<Sampled> step() {
        return step(() -> {});
    }

    /** Runs the step while an earlier one is in flight, which {@code awaitEarlier} awaits. */
    List<Sampled> step(Runnable awaitEarlier) {
        runner.submit(inputs, outputs);
        awaitEarlier.run();
        runner.await();
        List<Sampled> results = new ArrayList<>();
        for (int s = 0; s < inputs.samples(); s++) {
            List<Integer> tops = new ArrayList<>();
            List<Float> logprobs = new ArrayList<>();
            for (int rank = 0; rank < params.logprobs(); rank++) {
                tops.add(outputs.topToken(s, rank));
                logprobs.add(outputs.topLogprob(s, rank));
            }
            results.add(new Sampled(outputs.status(s), outputs.token(s), outputs.logprob(s), tops, logprobs));
        }
        inputs.clear();
        return results;
    }

    /** Computes a whole prompt in chunks of at most {@code chunk} tokens, then {@code more} tokens greedily, alone. */
    public List<Sampled> alone(int[] prompt, int chunk, int more) {
        Sequence sequence = new Sequence(prompt);
        while (prompt.length - sequence.computed > chunk) {
            add(sequence, chunk, false).step();
        }
        List<Sampled> results = new ArrayList<>(
                add(sequence, prompt.length - sequence.computed, true).step());
        for (int i = 0; i < more; i++) {
            sequence.append(results.getLast().token());
            results.addAll(add(sequence, 1, true).step());
        }
        return results;
    }

    @Override
    public void close() {
        runner.close();
    }
}
