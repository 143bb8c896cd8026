package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.FreshJvm;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.cpu.KernelChoice;
import io.roseinfer.base.Clock;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Open streams decode in the steady state, and neither the engine's thread nor the device's allocate. See {@link DecodeWindows}. */
class DecodeAllocationTest {
    private static byte[] sink = {};

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void decoding_with_open_streams_comes_to_allocate_nothing(boolean profiled) {
        assertThat(DecodeWindows.bytes(KernelChoice.SCALAR, profiled, Clock.system(), DecodeWindows.MOST))
                .last()
                .isEqualTo(0L);
    }

    @Test
    void decoding_on_vector_kernels_comes_to_allocate_nothing() throws Exception {
        List<String> windows = FreshJvm.firstThat(
                lines -> lines.getLast().equals("0"), DecodeWindows.class, List.of(), Precision.FP32.name());
        assertThat(windows).last().isEqualTo("0");
    }

    /**
     * Where the compiler knows the class of a vector by its profile only, it may compile the call before there is one and box
     * vectors ever after, in one process of some. Without profiles it does so in all.
     */
    @ParameterizedTest
    @EnumSource(names = {"FP32", "BF16", "INT8", "INT4"})
    void decoding_when_the_compiler_has_no_type_profile_comes_to_allocate_nothing(Precision weights) throws Exception {
        assertThat(FreshJvm.run(DecodeWindows.class, List.of("-XX:-UseTypeProfile"), weights.name()))
                .last()
                .isEqualTo("0");
    }

    /** That what is allocated would be seen. */
    @Test
    void decoding_with_a_clock_that_allocates_never_does() {
        Clock system = Clock.system();
        Clock wasteful = () -> {
            sink = new byte[16];
            return system.nanos();
        };
        assertThat(DecodeWindows.bytes(KernelChoice.SCALAR, false, wasteful, 5))
                .hasSize(5)
                .allMatch(bytes -> bytes > 32 * DecodeWindows.WINDOW);
        assertThat(sink).hasSize(16);
    }
}
