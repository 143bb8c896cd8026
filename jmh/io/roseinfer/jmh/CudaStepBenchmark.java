package io.roseinfer.jmh;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.backend.cuda.CudaBackend;
import io.roseinfer.backend.cuda.CudaOptions;
import io.roseinfer.base.Clock;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.TokenHistory;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Question: how long is a decode step of the GPT-2 124M shape on a GPU, from the host's call to its tokens, by what is asked of the
 * sampler? One step is in flight at a time; an engine keeps two. Context 132, fp16, a graph. Tokens per second are rows / time.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(value = 1, jvmArgsAppend = "--add-modules=jdk.incubator.vector")
@Warmup(iterations = 2, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
public class CudaStepBenchmark {
    private static final int BLOCK = 16;
    private static final int CONTEXT = 132;

    /** Sampling modes. */
    public enum Way {
        GREEDY(SamplingParams.greedy()),
        DRAWN(SamplingParams.random()),
        TOP_K_40(SamplingParams.random().withTopK(40)),
        TOP_P_90(SamplingParams.random().withTopP(0.9f)),
        LOGPROBS_5(SamplingParams.greedy().withLogprobs(5));

        private final SamplingParams params;

        Way(SamplingParams params) {
            this.params = params;
        }
    }

    @Param({"1", "64", "256"})
    public int rows;

    @Param
    public Way way;

    private ModelRunner runner;
    private StepInputs inputs;
    private StepOutputs outputs;

    /** Loads the model and packs the step once: running it again only writes the same keys and values again. */
    @Setup
    public void load() {
        ModelFiles model = ModelFiles.random("gpt2", 0);
        int blocks = Math.ceilDiv(CONTEXT, BLOCK);
        CudaOptions options = CudaOptions.defaults().withPrecision(Precision.FP16);
        runner = CudaBackend.open(options, Clock.system())
                .load(model.spec(), model.weights(), new RunnerLimits(rows, rows, BLOCK, rows * blocks));
        inputs = runner.newInputs();
        outputs = runner.newOutputs();
        inputs.clear();
        for (int row = 0; row < rows; row++) {
            inputs.beginRow(
                    CONTEXT - 1,
                    IntStream.range(row * blocks, (row + 1) * blocks).toArray());
            inputs.addToken(row * 31 % model.spec().vocabularySize());
            inputs.endRow();
            inputs.sample(inputs.tokens() - 1, new SampleRequest(way.params, row, TokenHistory.NONE));
        }
    }

    @TearDown
    public void close() {
        runner.close();
    }

    @Benchmark
    public int run() {
        runner.submit(inputs, outputs);
        runner.await();
        return outputs.token(0);
    }
}
