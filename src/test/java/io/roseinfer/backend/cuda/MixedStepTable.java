package io.roseinfer.backend.cuda;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.cuda.ForwardPass.Choice;
import io.roseinfer.backend.cuda.ForwardPass.Step;
import io.roseinfer.backend.cuda.StepKernels.Attention;
import io.roseinfer.base.Clock;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.TokenHistory;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * Prints the times of steps of decode rows with and without a prompt, with the chosen kernels and with the generic attention kernel. Times
 * are host medians from the first launch to completion.
 *
 * <pre>bin/java-with-flags -Droseinfer.cuda.target=sm_80 -cp 'lib/*:test-classes:test-lib/*' io.roseinfer.backend.cuda.MixedStepTable llama-3.2-1b</pre>
 */
final class MixedStepTable {
    private static final int RUNS = 7;
    private static final int MAX_ROWS = 128;
    private static final int MAX_TOKENS = 2048;
    private static final int BLOCK_SIZE = 16;
    private static final double NANOS_PER_MILLI = 1e6;

    private final CudaModelRunner runner;

    private MixedStepTable(ModelRunner runner) {
        this.runner = (CudaModelRunner) runner;
    }

    private StepInputs inputs(int decodeRows, int context, int promptTokens) {
        StepInputs in = runner.newInputs();
        in.clear();
        int next = 0;
        for (int row = 0; row < decodeRows + (promptTokens > 0 ? 1 : 0); row++) {
            int length = row < decodeRows ? context : promptTokens;
            int blocks = Math.ceilDiv(length, BLOCK_SIZE);
            int first = row < decodeRows ? context - 1 : 0;
            in.beginRow(first, IntStream.range(next, next + blocks).toArray());
            next += blocks;
            for (int position = first; position < length; position++) {
                in.addToken((position * 31 + row * 17) % runner.spec().vocabularySize());
            }
            in.endRow();
            in.sample(in.tokens() - 1, new SampleRequest(SamplingParams.greedy(), row, TokenHistory.NONE));
        }
        return in;
    }

    private double millis(StepInputs in, StepKernels kernels) {
        CudaRank rank = runner.rank();
        StepLayout layout = new StepLayout(in.tokens(), in.rows(), in.samples());
        KernelRows rows = KernelRows.of(in);
        PendingStep pending = rank.pendingSteps().getFirst();
        boolean widens = rank.buffers().widePages() > 0;
        InputPacker packer = new InputPacker(runner.spec().vocabularySize(), KvPages.of(BLOCK_SIZE), widens);
        rank.stream()
                .upload(rank.buffers().inputs()[0], pending.staging, packer.pack(in, rows, layout, 1, pending.staging));
        Step step = new Step(layout, kernels, rows.decodeRows(), Choice.GREEDY, 0);
        double[] millis = new double[RUNS];
        for (int run = -2; run < RUNS; run++) {
            long start = System.nanoTime();
            rank.forward().run(step);
            rank.stream().synchronize();
            millis[Math.max(run, 0)] = (System.nanoTime() - start) / NANOS_PER_MILLI;
        }
        Arrays.sort(millis);
        return millis[RUNS / 2];
    }

    private void print(int decodeRows, int context, int promptTokens) {
        StepInputs in = inputs(decodeRows, context, promptTokens);
        StepKernels chosen = runner.kernels().of(in.tokens(), in.rows(), in.samples(), decodeRows);
        System.out.printf(
                Locale.ROOT,
                "| %d | %d | %d | %.3f (%s) | %.3f |%n",
                decodeRows,
                context,
                promptTokens,
                millis(in, chosen),
                chosen.attention(),
                millis(in, chosen.with(Attention.GENERIC)));
    }

    /**
     * Prints the table of a model.
     *
     * @param args the shape of the model, such as {@code llama-3.2-1b}
     */
    public static void main(String[] args) {
        RunnerLimits limits = new RunnerLimits(MAX_ROWS + 1, MAX_TOKENS + MAX_ROWS, BLOCK_SIZE, 0);
        try (ModelFiles files = ModelFiles.random(args[0], 0);
                CudaBackend backend = CudaBackend.open(CudaOptions.defaults().withGraphs(false), Clock.system());
                ModelRunner runner = backend.load(files.spec(), files.weights(), limits)) {
            System.out.println(args[0] + " on " + backend.description() + ", ms");
            System.out.println("| decode rows | their context | prompt | chosen | generic attention |");
            System.out.println("|---|---|---|---|---|");
            long unused = ((CudaModelRunner) runner).rank().context().enter();
            MixedStepTable table = new MixedStepTable(runner);
            int most = Math.min(MAX_TOKENS, files.spec().contextLength());
            for (int decodeRows : new int[] {1, 8, 64}) {
                table.print(decodeRows, 512, most);
            }
            for (int decodeRows : new int[] {31, 33, MAX_ROWS}) {
                for (int promptTokens : new int[] {1024, 1800, 2048}) {
                    table.print(decodeRows, 300, Math.min(promptTokens, most));
                }
            }
            for (int decodeRows : new int[] {1, 8, 64}) {
                for (int context : new int[] {128, 512, most}) {
                    table.print(decodeRows, context, 0);
                }
            }
        }
    }
}
