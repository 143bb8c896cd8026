package io.roseinfer.model;

import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.tensor.DType;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** F32 tensors in arrays. */
public final class ArraySource implements Checkpoint {
    private final Map<String, float[]> values = new LinkedHashMap<>();
    private final Map<String, Info> infos = new LinkedHashMap<>();

    /** Adds a tensor, or replaces one. */
    public StoredTensor put(String name, float[] tensor, long... shape) {
        values.put(name, tensor);
        infos.put(name, new Info(DType.F32, shape));
        return new StoredTensor(this, name);
    }

    @Override
    public String description() {
        return "arrays";
    }

    @Override
    public Set<String> names() {
        return values.keySet();
    }

    @Override
    public Optional<Info> info(String name) {
        return Optional.ofNullable(infos.get(name));
    }

    @Override
    public Tensor read(String name, Arena arena) {
        float[] tensor = Objects.requireNonNull(values.get(name));
        MemorySegment memory = arena.allocate(4L * tensor.length, 4);
        MemorySegment.copy(tensor, 0, memory, ValueLayout.JAVA_FLOAT, 0, tensor.length);
        return new Tensor(DType.F32, info(name).orElseThrow().shape(), memory);
    }

    @Override
    public void close() {}
}
