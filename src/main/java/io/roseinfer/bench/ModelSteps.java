package io.roseinfer.bench;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.WritableStep;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.TokenHistory;
import io.roseinfer.scheduler.ExtensionFailure;

/**
 * Drives a runner without a scheduler: endless rows, greedy sampling, as many steps in flight as the device supports. All rows have
 * equally many KV blocks; those of row r follow those of row r − 1.
 */
final class ModelSteps {
    private static final SampleRequest GREEDY = new SampleRequest(SamplingParams.greedy(), 0, TokenHistory.NONE);

    private final ModelRunner runner;
    private final StepObserver observer;
    private final Flight[] ring;
    /** The blocks of the row being packed. */
    private final int[] blocks;

    /** The token that each row sampled last, and the token sampled after its prompt. */
    private final int[] sampled;

    private final int[] behindPrompt;
    private int submitted;
    private int awaited;

    /** A step in flight; its first row is row {@code firstRow} of all. */
    private static final class Flight {
        final StepInputs inputs;
        final StepOutputs outputs;
        final WritableStep record = new WritableStep();
        int firstRow;

        Flight(ModelRunner runner) {
            try {
                inputs = runner.newInputs();
                outputs = runner.newOutputs();
            } catch (RuntimeException | LinkageError thrown) {
                throw ExtensionFailure.ofLoading(runner, thrown);
            }
        }
    }

    /**
     * @param rows maximum rows per step
     * @param rowTokens maximum tokens per row
     * @param observer observer of every step; the step records have no times
     */
    ModelSteps(ModelRunner runner, int rows, int rowTokens, StepObserver observer) {
        this.runner = runner;
        this.observer = observer;
        this.ring = new Flight[runner.maxInFlight()];
        for (int i = 0; i < ring.length; i++) {
            ring[i] = new Flight(runner);
        }
        this.blocks = new int[runner.kv().blocksFor(rowTokens)];
        this.sampled = new int[rows];
        this.behindPrompt = new int[rows];
    }

    /** Computes the prompts of all rows, as many per step as fit. */
    void prefill(int rows, int tokens) {
        int perStep = Math.min(runner.limits().maxRows(), runner.limits().maxTokens() / tokens);
        for (int first = 0; first < rows; first += perStep) {
            StepInputs step = next(first);
            for (int row = first; row < Math.min(rows, first + perStep); row++) {
                beginRow(step, row, 0);
                for (int position = 0; position < tokens; position++) {
                    step.addToken(promptToken(row, position));
                }
                endRow(step);
            }
            submit();
        }
        drain();
        System.arraycopy(sampled, 0, behindPrompt, 0, rows);
    }

    /**
     * Decodes all rows {@code steps} times after their prompts of {@code position} tokens, overwriting earlier decode steps.
     */
    void decode(int rows, int position, int steps) {
        System.arraycopy(behindPrompt, 0, sampled, 0, rows);
        for (int at = position; at < position + steps; at++) {
            StepInputs step = next(0);
            boolean onDevice = submitted > awaited;
            for (int row = 0; row < rows; row++) {
                beginRow(step, row, at);
                step.addToken(onDevice ? ~row : sampled[row]);
                endRow(step);
            }
            submit();
        }
        drain();
    }

    /** Returns the token that a row sampled last; no step is in flight between calls. */
    int token(int row) {
        return sampled[row];
    }

    int promptToken(int row, int position) {
        return (int) ((position * 31L + row * 17L) % runner.spec().vocabularySize());
    }

    private StepInputs next(int firstRow) {
        if (submitted - awaited == ring.length) {
            await();
        }
        Flight flight = flight(submitted);
        flight.firstRow = firstRow;
        flight.inputs.clear();
        observer.on(StepEvent.PLANNING, flight.record);
        observer.on(StepEvent.PLANNED, flight.record);
        return flight.inputs;
    }

    private Flight flight(int step) {
        return ring[step % ring.length];
    }

    private void submit() {
        Flight flight = flight(submitted++);
        flight.record.set(Fact.ROWS, flight.inputs.rows());
        flight.record.set(Fact.TOKENS, flight.inputs.tokens());
        observer.on(StepEvent.PACKED, flight.record);
        try {
            runner.submit(flight.inputs, flight.outputs);
        } catch (RuntimeException | LinkageError thrown) {
            throw ExtensionFailure.ofDevice(runner, thrown);
        }
        observer.on(StepEvent.SUBMITTED, flight.record);
    }

    private void drain() {
        while (awaited < submitted) {
            await();
        }
        submitted = 0;
        awaited = 0;
    }

    private void await() {
        Flight flight = flight(awaited);
        observer.on(StepEvent.AWAITING, flight.record);
        try {
            runner.await();
        } catch (RuntimeException | LinkageError thrown) {
            throw ExtensionFailure.ofDevice(runner, thrown);
        }
        observer.on(StepEvent.AWAITED, flight.record);
        awaited++;
        for (int sample = 0; sample < flight.inputs.samples(); sample++) {
            if (flight.outputs.status(sample) != StepOutputs.Status.OK) {
                throw new DeviceFailure(
                        "the model's logits are not finite, so its benchmark would be meaningless", true);
            }
            sampled[flight.firstRow + sample] = flight.outputs.token(sample);
        }
        observer.on(StepEvent.APPLIED, flight.record);
    }

    private void beginRow(StepInputs step, int row, int position) {
        for (int block = 0; block < blocks.length; block++) {
            blocks[block] = row * blocks.length + block;
        }
        step.beginRow(position, blocks);
    }

    private static void endRow(StepInputs step) {
        step.endRow();
        step.sample(step.tokens() - 1, GREEDY);
    }
}
