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
 * Question: how long is a prompt of the GPT-2 124M shape on a GPU, from the host's call to its first token, with and without a
 * graph? One step is in flight at a time, fp16, greedy.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(value = 1, jvmArgsAppend = "--add-modules=jdk.incubator.vector")
@Warmup(iterations = 2, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
public class CudaPromptBenchmark {
    private static final int BLOCK = 16;

    @Param({"16", "64", "259", "1000"})
    public int tokens;

    /** Prompts on one row, or the tokens shared out over several. */
    @Param("1")
    public int rows;

    /** {@link CudaOptions#promptGraphTokens}. */
    @Param({"512", "0"})
    public int promptGraphTokens;

    private ModelRunner runner;
    private StepInputs inputs;
    private StepOutputs outputs;

    /** Loads the model and packs the step once: running it again only writes the same keys and values again. */
    @Setup
    public void load() {
        ModelFiles model = ModelFiles.random("gpt2", 0);
        CudaOptions options =
                CudaOptions.defaults().withPrecision(Precision.FP16).withPromptGraphTokens(promptGraphTokens);
        int blocks = Math.ceilDiv(tokens, BLOCK);
        runner = CudaBackend.open(options, Clock.system())
                .load(model.spec(), model.weights(), new RunnerLimits(rows, rows * tokens, BLOCK, rows * blocks));
        outputs = runner.newOutputs();
        inputs = runner.newInputs();
        pack(inputs, blocks, model.spec().vocabularySize());
    }

    private void pack(StepInputs in, int blocks, int vocabulary) {
        in.clear();
        for (int row = 0; row < rows; row++) {
            in.beginRow(0, IntStream.range(row * blocks, (row + 1) * blocks).toArray());
            for (int position = 0; position < tokens; position++) {
                in.addToken((position * 31 + row * 17) % vocabulary);
            }
            in.endRow();
            in.sample(in.tokens() - 1, new SampleRequest(SamplingParams.greedy(), row, TokenHistory.NONE));
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
