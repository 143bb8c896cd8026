package io.roseinfer.backend.cuda;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepDriver;
import io.roseinfer.backend.cpu.CpuBackend;
import io.roseinfer.backend.cpu.CpuOptions;
import io.roseinfer.backend.cpu.CpuProbe;
import io.roseinfer.base.Clock;
import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.golden.Difference;
import io.roseinfer.golden.Golden;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.OtherSource;
import io.roseinfer.model.Weights;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.tensor.DType;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Supplier;

/**
 * Prints the difference between GPU logits in each type and CPU logits in fp32, for the first 1, 2, … blocks of a model followed by its
 * final norm and head, to show where an error enters and how it grows. The logits are those after every fourth token of a prompt and its
 * greedy continuation, computed in one step and token by token.
 *
 * <pre>bin/java-with-flags -cp 'lib/*:test-classes:test-lib/*' io.roseinfer.backend.cuda.LayerTable builtin-tiny gpt2-random</pre>
 */
final class LayerTable {
    private static final int EVERY = 4;

    private LayerTable() {}

    /** A cached checkpoint, since it is loaded many times. */
    private static final class Kept implements Checkpoint {
        private final Checkpoint source;
        private final Arena arena;
        private final Map<String, Tensor> tensors = new HashMap<>();

        Kept(Checkpoint source, Arena arena) {
            this.source = source;
            this.arena = arena;
        }

        @Override
        public String description() {
            return "kept weights";
        }

        @Override
        public Set<String> names() {
            return source.names();
        }

        @Override
        public Optional<Info> info(String name) {
            return source.info(name);
        }

        @Override
        public Tensor read(String name, Arena unused) {
            return tensors.computeIfAbsent(name, first -> source.read(first, arena));
        }

        @Override
        public void close() {}
    }

    /** Returns the logits after every fourth token, computed in one step and token by token. */
    private static List<float[]> logits(
            Supplier<Backend> device,
            ModelSpec spec,
            Weights weights,
            int[] tokens,
            BiFunction<ModelRunner, Integer, float[]> read) {
        RunnerLimits limits = new RunnerLimits(1, spec.contextLength(), 16, 128);
        int rows = tokens.length / EVERY;
        int vocabulary = spec.vocabularySize();
        float[] prefill = new float[rows * vocabulary];
        float[] decode = new float[rows * vocabulary];
        try (Backend backend = device.get();
                StepDriver driver = new StepDriver(backend.load(spec, weights, limits))) {
            StepDriver.Sequence sequence = new StepDriver.Sequence(tokens);
            for (int row = 0; row < rows; row++) {
                int length = (row + 1) * EVERY;
                driver.add(new StepDriver.Sequence(Arrays.copyOf(tokens, length)), length, true)
                        .step();
                System.arraycopy(read.apply(driver.runner, 0), 0, prefill, row * vocabulary, vocabulary);
                while (sequence.computed < length) {
                    driver.add(sequence, 1, true).step();
                }
                System.arraycopy(read.apply(driver.runner, 0), 0, decode, row * vocabulary, vocabulary);
            }
        }
        return List.of(prefill, decode);
    }

    private static Backend cuda(Precision precision) {
        return CudaBackend.open(CudaOptions.defaults().withPrecision(precision).withGraphs(false), Clock.system());
    }

    private static void print(String name) {
        Golden golden = Golden.read(name);
        int prompt = golden.prompts() - 1;
        int[] ids = golden.ids(prompt);
        int[] greedy = golden.greedy(prompt);
        int[] tokens = Arrays.copyOf(ids, 64);
        System.arraycopy(greedy, 0, tokens, ids.length, 64 - ids.length);
        try (ModelFiles files = golden.open();
                Arena arena = Arena.ofShared()) {
            Weights kept = OtherSource.of(files.weights(), new Kept(files.source(), arena));
            DType stored = files.weights().matrixType();
            System.out.printf("%n%s (%s), logits on CUDA minus logits on the CPU in fp32%n", name, stored);
            System.out.println("| blocks | largest logit | fp32 prefill | fp32 decode | fp16 prefill | fp16 decode"
                    + " | bf16 prefill | bf16 decode |");
            System.out.println("|---|---|---|---|---|---|---|---|");
            for (int layers = 1; layers <= files.spec().layers(); layers++) {
                ModelSpec spec = files.spec().withLayers(layers);
                Weights weights = kept.withLayers(layers);
                CpuOptions fp32 = CpuOptions.defaults().withPrecision(Precision.FP32);
                float[] expected = logits(() -> new CpuBackend(fp32), spec, weights, tokens, CpuProbe::logits)
                        .getFirst();
                System.out.printf("| %d | %.2f |", layers, largest(expected));
                for (Precision precision : new Precision[] {Precision.FP32, Precision.FP16, Precision.BF16}) {
                    for (float[] seen : logits(() -> cuda(precision), spec, weights, tokens, CudaProbe::logits)) {
                        System.out.print(" " + Difference.of(seen, expected) + " |");
                    }
                }
                System.out.println();
            }
        }
    }

    private static float largest(float[] values) {
        float largest = 0;
        for (float value : values) {
            largest = Math.max(largest, Math.abs(value));
        }
        return largest;
    }

    /**
     * Prints a table per golden.
     *
     * @param args names of goldens
     */
    public static void main(String[] args) {
        for (String name : args) {
            print(name);
        }
    }
}
