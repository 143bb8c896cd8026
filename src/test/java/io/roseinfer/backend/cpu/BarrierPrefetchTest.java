package io.roseinfer.backend.cpu;

import static org.assertj.core.api.Assertions.assertThatCode;

import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import java.lang.foreign.Arena;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BarrierPrefetchTest {

    /** The matrix fills its memory segment, so that a read past its end fails. */
    @ParameterizedTest
    @CsvSource({"1, 1", "3, 5", "64, 48", "100, 500", "768, 2304"})
    void prefetch_stays_within_its_target_panels(int inputs, int outputs) {
        try (Arena arena = Arena.ofConfined()) {
            for (WeightFormat format : WeightFormat.all()) {
                long bytes = PackedMatrix.bytes(format, inputs, outputs);
                PackedMatrix matrix =
                        new PackedMatrix(format, inputs, outputs, arena.allocate(bytes, 64), new float[0]);
                BarrierPrefetch prefetch = new BarrierPrefetch();
                for (int panel = 0; panel < matrix.panels(); panel++) {
                    prefetch.aim(matrix, panel, matrix.panels());
                    assertThatCode(() -> run(prefetch, 20_000)).doesNotThrowAnyException();
                }
            }
        }
    }

    private static void run(BarrierPrefetch prefetch, int calls) {
        for (int i = 0; i < calls; i++) {
            prefetch.run();
        }
    }
}
