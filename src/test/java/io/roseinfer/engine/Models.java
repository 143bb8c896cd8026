package io.roseinfer.engine;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.observe.Observers;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/** Simulated models, and a clock that advances by one per reading. */
final class Models {
    static final int VOCABULARY = 1000;
    static final int CONTEXT = 64;
    static final int END = 999;

    private Models() {}

    static ModelSpec spec() {
        return SpecBuilder.named("sim")
                .vocabulary(VOCABULARY)
                .context(CONTEXT)
                .endOfText(END)
                .build();
    }

    static SimRunner runner(EngineOptions options, SimOptions sim) {
        return new SimRunner(spec(), EngineLimits.runnerLimits(options, spec()), sim);
    }

    /** Returns the scheduler's private state of a request. */
    static Object sequence(OnlineScheduler scheduler, long id) throws ReflectiveOperationException {
        var field = OnlineScheduler.class.getDeclaredField("sequences");
        field.setAccessible(true);
        return Objects.requireNonNull(((Map<?, ?>) field.get(scheduler)).get(id));
    }

    static Clock ticking() {
        AtomicLong now = new AtomicLong();
        return now::incrementAndGet;
    }

    /** Waits on a device's thread, for example until all requests are submitted. */
    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static Engine engine(EngineOptions options, SimOptions sim) {
        return Engine.open(runner(options, sim), Optional.empty(), options, ticking());
    }

    /** Creates a manager of one replica whose worker has not been started. */
    static SchedulerManager manager(SimRunner runner, EngineOptions options) {
        return new SchedulerManager(
                List.of(runner),
                options,
                RoutingPolicy.pull(),
                ticking(),
                Observers.NONE,
                new TokenizeWorkers(0, request -> {}));
    }

    static EngineOptions options() {
        return EngineOptions.defaults().withBlockSize(4).withKvBlocks(200);
    }

    static GenerationRequest request(int newTokens, int... prompt) {
        return GenerationRequest.ofTokens(prompt).withMaxNewTokens(newTokens).withIgnoreEndOfText(true);
    }
}
