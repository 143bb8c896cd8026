package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.driver.CudaStream;
import io.roseinfer.model.StoredTensor;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Temporary device copies for the kernels of {@code load.cu}: checkpoint tensors as stored, and numbers. */
final class TransientUploads {
    private static final String USE = "checkpoint tensors on their way";

    /**
     * A checkpoint tensor on the device.
     *
     * @param columns of a matrix, or the elements of anything else
     */
    record Source(long address, ElementType type, int columns) {}

    private final DeviceMemory memory;
    private final CudaStream stream;
    private final Map<StoredTensor, Source> tensors = new HashMap<>();
    private final List<Long> held = new ArrayList<>();

    TransientUploads(DeviceMemory memory, CudaStream stream) {
        this.memory = memory;
        this.stream = stream;
    }

    /** Uploads a tensor once, even if several matrices are made from it. */
    Source tensor(StoredTensor stored) {
        Source known = tensors.get(stored);
        if (known != null) {
            return known;
        }
        try (Arena reading = Arena.ofShared()) {
            Tensor tensor = stored.read(reading);
            MemorySegment data = tensor.data().isNative()
                    ? tensor.data()
                    : reading.allocate(tensor.data().byteSize(), 64).copyFrom(tensor.data());
            int columns = Math.toIntExact(tensor.dimension(tensor.rank() - 1));
            Source source = new Source(hold(data), ElementType.of(tensor.dtype()), columns);
            tensors.put(stored, source);
            return source;
        }
    }

    long floats(float[] values) {
        try (Arena passing = Arena.ofConfined()) {
            return hold(passing.allocateFrom(ValueLayout.JAVA_FLOAT, values));
        }
    }

    long integers(int[] values) {
        try (Arena passing = Arena.ofConfined()) {
            return hold(passing.allocateFrom(ValueLayout.JAVA_INT, values));
        }
    }

    /** Copies numbers to a permanent address. */
    void floats(float[] values, long target) {
        try (Arena passing = Arena.ofConfined()) {
            copy(passing.allocateFrom(ValueLayout.JAVA_FLOAT, values), target);
        }
    }

    private long hold(MemorySegment data) {
        long address = memory.allocate(USE, data.byteSize());
        held.add(address);
        copy(data, address);
        return address;
    }

    private void copy(MemorySegment data, long target) {
        stream.copyToDevice(target, data, data.byteSize());
        stream.synchronize();
    }

    /** Frees everything after the kernels that read it. */
    void release() {
        stream.synchronize();
        held.forEach(memory::free);
        held.clear();
        tensors.clear();
    }
}
