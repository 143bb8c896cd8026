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

/** Runs models on CPU cores. Results are bit-identical for any batch, chunking, thread count and kernels. */
public final class CpuBackend implements Backend {
    private static final long WARM_UP_NANOS = 200_000_000;

    private final CpuOptions options;
    private final CpuFeatures features;
    /** Kinds of kernels, from one that needs no warm-up to the fastest once compiled. */
    private final List<Kernels.Factory> kernels;

    private final int threads;
    private final AvailableMemory memory;
    private final Clock clock;

    /** Creates a backend with the system clock. */
    public CpuBackend(CpuOptions options) {
        this(options, Clock.system());
    }

    /**
     * Chooses kernels for this processor.
     *
     * @param clock measures stalls
     * @throws BackendUnavailable if requested vector kernels cannot run
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
        List<String> warnings = new ArrayList<>(kernelWarnings());
        if (threads > features.processors()) {
            warnings.add("threads is " + threads + ", more than the " + features.processors()
                    + " cores of this machine; expect it to be slower");
        }
        return warnings;
    }

    private List<String> kernelWarnings() {
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
    public String name() {
        return "cpu";
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

    /** Loads several runners over shared weights; divides the threads among them. */
    @Override
    public List<ModelRunner> load(ModelSpec spec, Weights weights, RunnerLimits limits, int replicas) {
        List<CpuModelRunner> runners = RunnerLoader.load(
                spec, weights, limits, options.precision(), kernels, shares(replicas), memory.bytes());
        // After loading, which reads files and may take any time.
        runners.forEach(runner ->
                runner.setStallLimit(new StallLimit(clock, TimeUnit.NANOSECONDS.convert(options.stallLimit()))));
        return List.copyOf(runners);
    }

    /** Returns the threads of each replica: at least one, evenly divided. */
    private List<Integer> shares(int replicas) {
        return IntStream.range(0, replicas)
                .mapToObj(i -> Math.max(1, threads / replicas + (i < threads % replicas ? 1 : 0)))
                .toList();
    }

    @Override
    public void close() {}
}
