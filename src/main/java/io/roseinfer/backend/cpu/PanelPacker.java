package io.roseinfer.backend.cpu;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;

import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.model.OpenMatrix;
import java.util.Arrays;

/**
 * Packs a matrix into a {@link PackedMatrix}, panel by panel; panels may be packed by different threads.
 */
final class PanelPacker {
    private final OpenMatrix matrix;
    private final PackedMatrix packed;
    private final PanelOrder order;

    public PanelPacker(OpenMatrix matrix, PackedMatrix packed, PanelOrder order) {
        this.matrix = matrix;
        this.packed = packed;
        this.order = order;
    }

    /** Packs one panel, using {@code buffer}, which must hold as many inputs. */
    public void pack(int panel, PackingBuffer buffer) {
        float[] weights = buffer.weights;
        int used = packed.inputs() * COLUMNS;
        int padded = Math.ceilDiv(packed.inputs(), packed.format().perWord())
                * packed.format().perWord()
                * COLUMNS;
        Arrays.fill(weights, order.columns(panel) < COLUMNS ? 0 : used, Math.max(used, padded), 0f);
        matrix.copyTo(order.first(panel), order.columns(panel), weights, COLUMNS, buffer.reading);
        buffer.packer(packed.format()).pack(weights, packed, panel);
    }
}
