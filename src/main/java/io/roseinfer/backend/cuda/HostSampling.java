package io.roseinfer.backend.cuda;

import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.Sampler;
import io.roseinfer.sampling.SamplingParams;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Chooses tokens on the host, by the reference sampler, from logits copied off the device. For what the device does not report:
 * log-probabilities. The device's sampler draws by the same rules and the same random numbers, so a token does not depend on
 * where it was chosen, but where a draw falls within rounding of the border between two tokens.
 */
final class HostSampling {
    /** Rows of logits that are on the host at a time. */
    static final int ROWS = 16;

    private final int vocabulary;
    private final int stride;
    private final MemorySegment staging;
    private final Sampler sampler;
    private final float[] logits;
    private final float[] raw;
    private final int[] tops = new int[SamplingParams.MAX_LOGPROBS];

    /**
     * @param stride floats from one row to the next
     * @param staging page-locked, room for {@link #ROWS} rows
     */
    HostSampling(int vocabulary, int stride, MemorySegment staging) {
        this.vocabulary = vocabulary;
        this.stride = stride;
        this.staging = staging;
        this.sampler = new Sampler(vocabulary);
        this.logits = new float[vocabulary];
        this.raw = new float[vocabulary];
    }

    /** Whether a request's token can only be chosen here. */
    static boolean needed(SamplingParams params) {
        return params.logprobs() >= 0;
    }

    /** Reads every sample's logits, which the stream has made by now, and fills the outputs. */
    void run(StepInputs in, StepOutputs out, CudaStream stream, long deviceLogits) {
        for (int first = 0; first < in.samples(); first += ROWS) {
            int count = Math.min(ROWS, in.samples() - first);
            stream.copyToHost(staging, deviceLogits + 4L * stride * first, 4L * stride * count);
            stream.synchronize();
            for (int i = 0; i < count; i++) {
                MemorySegment.copy(staging, ValueLayout.JAVA_FLOAT, 4L * stride * i, logits, 0, vocabulary);
                sample(in, out, first + i);
            }
        }
    }

    private void sample(StepInputs in, StepOutputs out, int sample) {
        SampleRequest request = in.sampling(sample);
        boolean report = request.params().logprobs() >= 0;
        if (report) {
            System.arraycopy(logits, 0, raw, 0, vocabulary);
        }
        int token = sampler.sample(logits, 0, request, in.contextLength(in.sampleRow(sample)));
        if (token == Sampler.NO_TOKEN) {
            out.set(sample, 0, StepOutputs.Status.NON_FINITE);
            return;
        }
        out.set(sample, token, StepOutputs.Status.OK);
        if (report) {
            report(sample, token, request.params().logprobs(), out);
        }
    }

    private void report(int sample, int token, int count, StepOutputs out) {
        float normalizer = sampler.logSumExp(raw, 0);
        out.setLogprob(sample, raw[token] - normalizer);
        if (count == 0) {
            return;
        }
        sampler.top(raw, 0, count, tops);
        for (int rank = 0; rank < Math.min(count, vocabulary); rank++) {
            out.setTop(sample, rank, tops[rank], raw[tops[rank]] - normalizer);
        }
    }
}
