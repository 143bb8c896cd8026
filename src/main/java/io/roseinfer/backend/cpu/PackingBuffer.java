package io.roseinfer.backend.cpu;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;

import io.roseinfer.backend.cpu.kernel.WeightFormat;
import io.roseinfer.model.OpenMatrix;
import java.util.HashMap;
import java.util.Map;

/** One thread's buffers for packing panels; reused for all matrices. */
final class PackingBuffer {
    private static final int MAX_PER_WORD =
            WeightFormat.all().stream().mapToInt(WeightFormat::perWord).max().orElseThrow();

    /** The weights of a panel, [inputs, rounded up to whole words][COLUMNS]. */
    final float[] weights;

    final OpenMatrix.Buffer reading = new OpenMatrix.Buffer();
    private final Map<WeightFormat, WeightFormat.Packer> packers = new HashMap<>();

    /** Creates buffers for panels of up to {@code inputs} inputs. */
    public PackingBuffer(int inputs) {
        weights = new float[Math.multiplyExact(padded(inputs), COLUMNS)];
    }

    /** Returns the approximate bytes of one buffer. */
    public static long bytes(int inputs) {
        return 4L * padded(inputs) * COLUMNS;
    }

    /** Returns this thread's packer of a format. */
    WeightFormat.Packer packer(WeightFormat format) {
        return packers.computeIfAbsent(format, WeightFormat::packer);
    }

    private static int padded(int inputs) {
        return Math.ceilDiv(inputs, MAX_PER_WORD) * MAX_PER_WORD;
    }
}
