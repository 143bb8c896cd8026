package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cuda.driver.CudaSystem;
import io.roseinfer.backend.cuda.driver.DeviceContext;
import io.roseinfer.backend.cuda.driver.Driver;
import io.roseinfer.backend.cuda.driver.DriverStatus;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.InsufficientMemory;
import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.model.OtherSource;
import io.roseinfer.model.Vector;
import io.roseinfer.model.Weights;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/** A failed load frees all of its device memory. */
@RequiresCuda
class CudaMemoryTest {
    private static final long MIB = 1L << 20;
    private static final ModelFiles MODEL = ModelFiles.random("gpt2", 0);

    /** Tolerance for memory that the driver itself keeps or frees. */
    private static final long DRIVERS_OWN = 8 * MIB;

    private DeviceContext context;

    @BeforeEach
    void open() {
        CudaSystem.find();
        context = DeviceContext.open(0);
    }

    @AfterEach
    void close() {
        context.close();
    }

    /** Random weights with a failing read from one tensor on. */
    private record Broken(Checkpoint weights, String missing) implements Checkpoint {
        @Override
        public String description() {
            return weights.description();
        }

        @Override
        public Set<String> names() {
            return weights.names();
        }

        @Override
        public Optional<Info> info(String name) {
            return weights.info(name);
        }

        @Override
        public Tensor read(String name, Arena arena) {
            if (name.equals(missing)) {
                throw new AssertionError("as planned");
            }
            return weights.read(name, arena);
        }

        @Override
        public void close() {
            weights.close();
        }
    }

    private static void load(Weights weights) {
        try (CudaBackend backend = CudaBackend.open(CudaOptions.defaults(), Clock.system())) {
            backend.load(MODEL.spec(), weights, new RunnerLimits(256, 1280, 16, 0))
                    .close();
        }
    }

    @Test
    void failed_tensor_read_is_reported_and_frees_all_memory() {
        load(MODEL.weights());
        long free = Driver.freeBytes();
        Vector last = MODEL.weights().norm().bias().orElseThrow();
        String name = last.asStored().orElseThrow().name();
        Weights broken = OtherSource.of(MODEL.weights(), new Broken(MODEL.source(), name));
        assertThatThrownBy(() -> load(broken))
                .isInstanceOf(AssertionError.class)
                .hasMessage("as planned");
        assertThat(Driver.freeBytes()).as("free device memory").isGreaterThanOrEqualTo(free - DRIVERS_OWN);
    }

    /** Memory runs out at the weights, the pool, a module, a kernel's first launch or the last graph. */
    @Test
    void load_without_enough_memory_fails_and_frees_all_memory(TestReporter out) {
        load(MODEL.weights());
        int refused = 0;
        for (long left : new long[] {1000, 700, 600, 560, 540, 520, 510, 500, 490, 480, 400, 200, 60, 8}) {
            refused += loadWithOnly(left * MIB, out) ? 0 : 1;
        }
        assertThat(refused).as("failed loads").isPositive();
    }

    /** Returns whether the load fits. */
    private static boolean loadWithOnly(long left, TestReporter out) {
        long[] ballast = new long[1];
        long bytes = Math.max(Driver.freeBytes() - left, 1);
        assertThat(Driver.allocate(ballast, bytes)).isEqualTo(DriverStatus.SUCCESS);
        try {
            long free = Driver.freeBytes();
            Optional<InsufficientMemory> refusal = refusal();
            out.publishEntry(
                    left / MIB + " MiB left", refusal.map(Throwable::getMessage).orElse("fits"));
            assertThat(Driver.freeBytes())
                    .as("free device memory of %d MiB, %s", left / MIB, refusal)
                    .isGreaterThanOrEqualTo(free - DRIVERS_OWN);
            return refusal.isEmpty();
        } finally {
            Driver.free(ballast[0]);
        }
    }

    private static Optional<InsufficientMemory> refusal() {
        try {
            load(MODEL.weights());
            return Optional.empty();
        } catch (InsufficientMemory e) {
            return Optional.of(e);
        }
    }
}
