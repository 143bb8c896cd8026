package io.roseinfer.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.KvPool;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.backend.cpu.panama.VectorKernels;
import io.roseinfer.backend.cpu.scalar.ScalarKernels;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The memory plan equals the arrays that are allocated. */
class MemoryPlanTest {
    private static final List<ModelSpec> SPECS = List.of(
            TestModel.plain(),
            TestModel.awkward(),
            SpecBuilder.named("gated")
                    .width(64)
                    .heads(4, 2, 32)
                    .inner(96)
                    .gated()
                    .build());
    private static final List<RunnerLimits> LIMITS = List.of(
            new RunnerLimits(1, 1, 16, 0),
            new RunnerLimits(4, 64, 16, 0),
            new RunnerLimits(100, 7, 16, 0),
            new RunnerLimits(3, 1000, 16, 0));

    private static List<WeightFormat> formats() {
        return WeightFormat.all();
    }

    @ParameterizedTest
    @MethodSource("formats")
    void scratch_arrays_take_the_planned_bytes(WeightFormat format) throws Exception {
        for (ModelSpec spec : SPECS) {
            for (RunnerLimits limits : LIMITS) {
                long promised = Scratch.plan(spec, limits, format).bytes();
                assertThat(arrayBytes(new Scratch(spec, limits, format)))
                        .as("%s, %s", spec, limits)
                        .isEqualTo(promised);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("formats")
    void worker_arrays_take_the_planned_bytes(WeightFormat format) throws Exception {
        List<List<Kernels.Factory>> choices = List.of(
                List.of(new ScalarKernels()),
                List.of(new VectorKernels(512, false)),
                List.of(new VectorKernels(256, false), new VectorKernels(256, true)));
        for (List<Kernels.Factory> kinds : choices) {
            for (ModelSpec spec : SPECS) {
                for (RunnerLimits limits : LIMITS) {
                    long promised = Worker.bytes(spec, limits, format, kinds);
                    List<Kernels> sets = kinds.stream()
                            .map(kind -> kind.create(format, spec.contextLength()))
                            .toList();
                    sets.forEach(set -> set.attention().ensureCapacity(spec.contextLength()));
                    KvPool pool = new KvPool(Arena.ofAuto().allocate(16), 0, 1, 1, 1);
                    assertThat(arrayBytes(new Worker(spec, limits, sets, pool)))
                            .as("%s, %s, %s", kinds.getLast().name(), spec, limits)
                            .isEqualTo(promised);
                }
            }
        }
    }

    @Test
    void unplanned_or_repeated_array_is_rejected_by_name() {
        ArrayPlan plan = new ArrayPlan().add("sums", 3);
        assertThat(plan.bytes()).isEqualTo(12);
        assertThat(plan.floats("sums")).hasSize(3);
        assertThatThrownBy(() -> plan.floats("sums")).hasMessageContaining("sums");
        assertThatThrownBy(() -> plan.ints("rows")).hasMessageContaining("rows");
    }

    private static long arrayBytes(Object owner) throws IllegalAccessException {
        return arrayBytes(owner, Collections.newSetFromMap(new IdentityHashMap<>()));
    }

    /** Returns the bytes of numeric arrays reachable from our objects, each counted once. */
    private static long arrayBytes(Object object, Set<Object> seen) throws IllegalAccessException {
        if (object == null || !seen.add(object)) {
            return 0;
        }
        Class<?> type = object.getClass();
        if (type.isArray() && type.getComponentType().isPrimitive()) {
            return Array.getLength(object) * (type == double[].class || type == long[].class ? 8L : 4L);
        }
        long bytes = 0;
        if (object instanceof Iterable<?> elements && !(object instanceof MemorySegment)) {
            for (Object element : elements) {
                bytes += arrayBytes(element, seen);
            }
        } else if (type.getName().startsWith("io.roseinfer")) {
            for (Field field : type.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers()) && !field.getType().isPrimitive()) {
                    field.setAccessible(true);
                    bytes += arrayBytes(field.get(object), seen);
                }
            }
        }
        return bytes;
    }
}
