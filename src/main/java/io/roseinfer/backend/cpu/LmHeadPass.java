package io.roseinfer.backend.cpu;

import io.roseinfer.backend.Operator;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.backend.StepOutputs.Status;
import io.roseinfer.backend.cpu.ModelWeights.Norm;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.Sampler;

/** Final norm, LM head and sampling of a step's samples. */
final class LmHeadPass {
    private final ModelSpec spec;
    private final ModelWeights weights;
    private final WorkerTeam team;
    private final Worker[] workers;
    private final Scratch scratch;

    LmHeadPass(ModelSpec spec, ModelWeights weights, WorkerTeam team, Worker[] workers, Scratch scratch) {
        this.spec = spec;
        this.weights = weights;
        this.team = team;
        this.workers = workers;
        this.scratch = scratch;
    }

    /** Runs a worker's part, after {@link ForwardPass#run}. */
    void run(int worker, StepInputs step, StepOutputs outputs) {
        for (int first = 0; first < step.samples(); first += Scratch.LOGIT_ROWS) {
            int count = Math.min(Scratch.LOGIT_ROWS, step.samples() - first);
            norm(worker, first, count);
            workers[worker].barrierAfter(Operator.FINAL_NORM, team, worker, weights.head());
            logits(worker, count);
            workers[worker].barrierAfter(Operator.LOGITS, team, worker, weights.first());
            for (int m = worker; m < count; m += team.size()) {
                sample(workers[worker], step, first + m, m * spec.vocabularySize(), outputs);
            }
            workers[worker].times.end(Operator.SAMPLING);
        }
    }

    EventCount.WaitTask waitTask(int worker) {
        return workers[worker].prefetch;
    }

    float logit(int sample, int token) {
        return scratch.logits[sample % Scratch.LOGIT_ROWS * spec.vocabularySize() + token];
    }

    private void norm(int worker, int first, int count) {
        int width = spec.width();
        Norm norm = weights.finalNorm();
        Worker own = workers[worker];
        for (int m = worker; m < count; m += team.size()) {
            norm.apply(own.kernels.rows(), scratch.sampled, (first + m) * width, own.row);
            own.put(own.row, 0, width, scratch.headInput, m, count);
        }
    }

    private void logits(int worker, int count) {
        Worker own = workers[worker];
        PackedMatrix head = weights.head();
        int panel;
        while ((panel = team.claim(head.panels(), worker)) != WorkerTeam.NONE) {
            own.kernels.head().multiply(scratch.headInput, count, head, panel, own.sums);
            Epilogue.finish(own.sums, count, head, panel);
            Epilogue.store(own.sums, count, head, panel, scratch.logits);
        }
    }

    private void sample(Worker own, StepInputs step, int sample, int from, StepOutputs outputs) {
        SampleRequest request = step.sampling(sample);
        int reported = step.reported(sample);
        if (reported != StepInputs.DRAWN) {
            reportGiven(own, reported, sample, from, request.params().logprobs(), outputs);
            return;
        }
        boolean report = request.params().logprobs() >= 0;
        if (report) {
            System.arraycopy(scratch.logits, from, own.rawLogits, 0, spec.vocabularySize());
        }
        int token = own.sampler.sample(scratch.logits, from, own.sample.of(step, sample));
        if (token < 0) {
            outputs.set(sample, 0, token == Sampler.NO_TOKEN ? Status.NON_FINITE : Status.NO_ALLOWED_TOKEN);
            return;
        }
        outputs.set(sample, token, Status.OK);
        if (report) {
            report(own, own.rawLogits, 0, sample, token, request.params().logprobs(), outputs);
        }
    }

    private void reportGiven(Worker own, int token, int sample, int from, int tops, StepOutputs outputs) {
        int rank = own.sampler.rank(scratch.logits, from, token);
        outputs.set(sample, token, rank == Sampler.NO_TOKEN ? Status.NON_FINITE : Status.OK);
        if (rank != Sampler.NO_TOKEN) {
            outputs.setRank(sample, rank);
            report(own, scratch.logits, from, sample, token, tops, outputs);
        }
    }

    /** Writes the log-probabilities of a token and of the most likely ones, from unmodified logits. */
    private void report(Worker own, float[] logits, int from, int sample, int token, int tops, StepOutputs outputs) {
        float normalizer = own.sampler.logSumExp(logits, from);
        outputs.setLogprob(sample, logits[from + token] - normalizer);
        if (tops == 0) {
            return;
        }
        own.sampler.top(logits, from, tops, own.topTokens);
        for (int rank = 0; rank < Math.min(tops, spec.vocabularySize()); rank++) {
            int top = own.topTokens[rank];
            outputs.setTop(sample, rank, top, logits[from + top] - normalizer);
        }
    }
}
