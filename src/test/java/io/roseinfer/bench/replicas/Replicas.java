package io.roseinfer.bench.replicas;

import io.roseinfer.DeviceOptions;
import io.roseinfer.LoadedModel;
import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

/**
 * One model loaded once on each of several devices.
 *
 * @param load the load that the model is for
 * @param runners one per device
 */
record Replicas(ScaledLoad load, List<LoadedModel> models, List<FailingRunner> runners) implements AutoCloseable {
    Replicas {
        models = List.copyOf(models);
        runners = List.copyOf(runners);
    }

    /** Loads the model on GPUs and warms it up: first on one, then on all others at the same time. */
    static Replicas onGpus(ScaledLoad load, List<Integer> gpus) throws Exception {
        List<LoadedModel> models = new ArrayList<>(List.of(onGpu(load, gpus.getFirst())));
        try (ExecutorService threads =
                Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            List<Future<LoadedModel>> others = gpus.stream()
                    .skip(1)
                    .map(gpu -> threads.submit(() -> onGpu(load, gpu)))
                    .toList();
            for (Future<LoadedModel> other : others) {
                models.add(other.get());
            }
        }
        return new Replicas(
                load,
                models,
                models.stream().map(model -> new FailingRunner(model.runner())).toList());
    }

    private static LoadedModel onGpu(ScaledLoad load, int gpu) {
        LoadedModel model = Roseinfer.load(Settings.of(load.model())
                .withDeviceOptions(DeviceOptions.of(Settings.Device.CUDA).withGpus(List.of(gpu)))
                .withEngine(load.options(true)));
        model.warmUp();
        return model;
    }

    /** Returns simulated devices with the model's tokenizer, whose steps take {@code stepNanos}. */
    static Replicas simulated(ScaledLoad load, int count, long stepNanos) {
        EngineOptions options = load.options(true);
        LoadedModel model = Roseinfer.load(
                Settings.of(load.model()).withDevice(Settings.Device.SIM).withEngine(options));
        RunnerLimits limits = EngineLimits.runnerLimits(options, model.spec());
        List<FailingRunner> runners = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            SimOptions sim = SimOptions.defaults().withReadBack(false).withOnStep(step -> pause(stepNanos));
            runners.add(new FailingRunner(new SimRunner(model.spec(), limits, sim)));
        }
        return new Replicas(load, List.of(model), runners);
    }

    /** Waits for a step's duration, regardless of an unpark permit of the engine. */
    private static void pause(long nanos) {
        long endNanos = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = endNanos - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    Optional<Tokenizer> tokenizer() {
        return models.getFirst().tokenizer();
    }

    int count() {
        return runners.size();
    }

    @Override
    public void close() {
        models.forEach(LoadedModel::close);
    }
}
