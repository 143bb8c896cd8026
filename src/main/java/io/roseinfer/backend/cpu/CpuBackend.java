package io.roseinfer.backend.cpu;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.panama.VectorKernels;
import io.roseinfer.backend.cpu.scalar.ScalarKernels;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BackendUnavailable;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Weights;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Runs models on the processor's cores. Results are the same to the bit for any batch, chunking, thread count and kernels. */
public final class CpuBackend implements Backend {
    private static final long WARM_UP_NANOS = 200_000_000;

    private final CpuOptions options;
    private final CpuFeatures features;
    /** Kinds of kernels from the one that is fast at once to the one that is fastest when compiled. */
    private final List<Kernels.Factory> kernels;

    private final int threads;
    private final AvailableMemory memory;
    private final Clock clock;

    /** As {@link #CpuBackend(CpuOptions, Clock)}, by the machine's clock. */
    public CpuBackend(CpuOptions options) {
        this(options, Clock.system());
    }

    /**
     * Chooses kernels for this processor.
     *
     * @param clock says whether a step has come no further for too long
     * @throws BackendUnavailable if vector kernels were asked for by width and cannot run
     */
    public CpuBackend(CpuOptions options, Clock clock) {
        this(options, CpuFeatures.detect(), AvailableMemory.here(), clock);
    }

    CpuBackend(CpuOptions options, CpuFeatures features) {
        this(options, features, AvailableMemory.here(), Clock.system());
    }

    CpuBackend(CpuOptions options, CpuFeatures features, AvailableMemory memory, Clock clock) {
        this.memory = memory;
        this.clock = clock;
        this.options = options;
        this.features = features;
        this.threads = options.threads() == 0 ? features.processors() : options.threads();
        this.kernels = choose(options.kernels(), features);
    }

    private static List<Kernels.Factory> choose(KernelChoice choice, CpuFeatures features) {
        if (choice == KernelChoice.SCALAR || (choice == KernelChoice.BEST && !features.vectorUsable())) {
            return List.of(new ScalarKernels());
        }
        if (!features.moduleEnabled()) {
            String asked =
                    choice == KernelChoice.VECTOR ? "cpu vector kernels" : "cpu kernels of " + choice.bits() + " bits";
            throw new BackendUnavailable(asked + " cannot run: " + features.summary());
        }
        if (choice == KernelChoice.VECTOR) {
            return List.of(new VectorKernels(features.vectorBits()));
        }
        if (choice != KernelChoice.BEST) {
            return List.of(new VectorKernels(choice.bits()));
        }
        List<Kernels.Factory> kinds = new ArrayList<>(List.of(new ScalarKernels()));
        kinds.addAll(VectorKernels.kinds(features.vectorBits()));
        return kinds;
    }

    @Override
    public List<String> warnings() {
        if (options.kernels() == KernelChoice.BEST && !features.vectorUsable()) {
            return List.of(
                    "cpu runs its scalar kernels, many times slower than its vector kernels: " + features.summary());
        }
        if (options.kernels().bits() > features.vectorBits()) {
            return List.of("cpu kernels of " + options.kernels().bits()
                    + " bits are emulated, many times slower than native: this processor has "
                    + features.vectorBits() + "-bit vectors");
        }
        return List.of();
    }

    @Override
    public Kind kind() {
        return Kind.CPU;
    }

    @Override
    public String description() {
        return "cpu: " + kernels.getLast().name() + " kernels, " + threads + (threads == 1 ? " thread" : " threads");
    }

    @Override
    public int threads() {
        return threads;
    }

    @Override
    public long warmUpNanos() {
        return WARM_UP_NANOS;
    }

    @Override
    public ModelRunner load(ModelSpec spec, Weights weights, RunnerLimits limits) {
        return load(spec, weights, limits, 1).getFirst();
    }

    /** Several runners over weights that are in memory once; the threads are shared out. */
    @Override
    public List<ModelRunner> load(ModelSpec spec, Weights weights, RunnerLimits limits, int replicas) {
        List<CpuModelRunner> runners = RunnerLoader.load(
                spec, weights, limits, options.precision(), kernels, shares(replicas), memory.bytes());
        // Not before: loading reads files, which may take any time.
        runners.forEach(runner ->
                runner.setStallLimit(new StallLimit(clock, TimeUnit.NANOSECONDS.convert(options.stallLimit()))));
        return List.copyOf(runners);
    }

    /** Threads of each replica: at least one, and as equal as can be. */
    private List<Integer> shares(int replicas) {
        return IntStream.range(0, replicas)
                .mapToObj(i -> Math.max(1, threads / replicas + (i < threads % replicas ? 1 : 0)))
                .toList();
    }

    @Override
    public void close() {}
}
