package io.roseinfer.bench;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.TokenHistory;

/**
 * Rows that never end, driven by hand over a runner: no scheduler, no queue, as many steps in flight as the device takes. Row r
 * owns the blocks from r · blocksPerRow on, and its tokens are chosen greedily.
 */
final class ModelSteps {
    private static final SampleRequest GREEDY = new SampleRequest(SamplingParams.greedy(), 0, TokenHistory.NONE);

    private final ModelRunner runner;
    private final StepInputs[] inputs;
    private final StepOutputs[] outputs;
    private final int[] firstRows;
    private final int blocksPerRow;
    private final int[] sampled;
    private int submitted;
    private int awaited;

    /**
     * @param rows most rows of a step
     * @param rowTokens most tokens a row comes to
     */
    ModelSteps(ModelRunner runner, int rows, int rowTokens) {
        this.runner = runner;
        int depth = runner.maxInFlight();
        this.inputs = new StepInputs[depth];
        this.outputs = new StepOutputs[depth];
        for (int i = 0; i < depth; i++) {
            inputs[i] = runner.newInputs();
            outputs[i] = runner.newOutputs();
        }
        this.firstRows = new int[depth];
        this.blocksPerRow = runner.kv().blocksFor(rowTokens);
        this.sampled = new int[rows];
    }

    /** Computes the prompts of all rows, as many to a step as fit. */
    void prefill(int rows, int tokens) {
        int perStep = Math.min(runner.limits().maxRows(), runner.limits().maxTokens() / tokens);
        for (int first = 0; first < rows; first += perStep) {
            StepInputs step = next(first);
            for (int row = first; row < Math.min(rows, first + perStep); row++) {
                step.beginRow();
                for (int position = 0; position < tokens; position++) {
                    step.addToken(promptToken(row, position), position, slot(row, position));
                }
                endRow(step, row, tokens);
            }
            submit();
        }
        drain();
    }

    /** Decodes all rows {@code steps} times; the first new token of each stands at {@code position}. */
    void decode(int rows, int position, int steps) {
        for (int at = position; at < position + steps; at++) {
            StepInputs step = next(0);
            boolean onDevice = submitted > awaited;
            for (int row = 0; row < rows; row++) {
                step.beginRow();
                step.addToken(onDevice ? ~row : sampled[row], at, slot(row, at));
                endRow(step, row, at + 1);
            }
            submit();
        }
        drain();
    }

    /** The token that a row sampled last; no step is in flight between calls. */
    int token(int row) {
        return sampled[row];
    }

    int promptToken(int row, int position) {
        return (int) ((position * 31L + row * 17L) % runner.spec().vocabularySize());
    }

    private StepInputs next(int firstRow) {
        if (submitted - awaited == inputs.length) {
            await();
        }
        int slot = submitted % inputs.length;
        firstRows[slot] = firstRow;
        inputs[slot].clear();
        return inputs[slot];
    }

    private void submit() {
        int slot = submitted++ % inputs.length;
        runner.submit(inputs[slot], outputs[slot]);
    }

    private void drain() {
        while (awaited < submitted) {
            await();
        }
        submitted = 0;
        awaited = 0;
    }

    private void await() {
        runner.await();
        int slot = awaited++ % inputs.length;
        for (int sample = 0; sample < inputs[slot].samples(); sample++) {
            if (outputs[slot].status(sample) != StepOutputs.Status.OK) {
                throw new DeviceFailure(
                        "the model's logits were not finite; a benchmark of it would mean nothing", true);
            }
            sampled[firstRows[slot] + sample] = outputs[slot].token(sample);
        }
    }

    private int slot(int row, int position) {
        return row * blocksPerRow * runner.kv().blockSize() + position;
    }

    private void endRow(StepInputs step, int row, int length) {
        for (int block = 0; block < runner.kv().blocksFor(length); block++) {
            step.addBlock(row * blocksPerRow + block);
        }
        step.endRow(length);
        step.sampleLastRow(GREEDY);
    }
}
