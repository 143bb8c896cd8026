package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.FreshJvm;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.cpu.KernelChoice;
import io.roseinfer.base.Clock;
import io.roseinfer.scheduler.policy.Drafter;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * In the steady state, decoding with open streams allocates nothing on the engine's and the device's threads. See
 * {@link DecodeWindows}.
 */
@Tag("parity")
class DecodeAllocationTest {
    private static byte[] sink = {};

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void decoding_with_open_streams_stops_allocating(boolean profiled) {
        assertThat(DecodeWindows.bytes(KernelChoice.SCALAR, profiled, Clock.system(), DecodeWindows.MAX_WINDOWS))
                .last()
                .isEqualTo(0L);
    }

    @Test
    void decoding_with_drafts_stops_allocating() {
        assertThat(DecodeWindows.bytes(KernelChoice.SCALAR, Drafter.ngram(8), DecodeWindows.MAX_WINDOWS))
                .last()
                .isEqualTo(0L);
    }

    @Test
    void decoding_on_vector_kernels_stops_allocating() throws Exception {
        List<String> windows = FreshJvm.firstThat(
                lines -> lines.getLast().equals("0"), DecodeWindows.class, List.of(), Precision.FP32.name());
        assertThat(windows).last().isEqualTo("0");
    }

    /**
     * If the compiler knows a vector's class only by its profile, it may in some processes compile the call before the
     * profile exists, and then box vectors forever. Without profiles it does so in every process.
     */
    @ParameterizedTest
    @EnumSource(names = {"FP32", "BF16", "INT8", "INT4"})
    void decoding_without_type_profiles_stops_allocating(Precision weights) throws Exception {
        assertThat(FreshJvm.run(DecodeWindows.class, List.of("-XX:-UseTypeProfile"), weights.name()))
                .last()
                .isEqualTo("0");
    }

    /** Verifies that allocations would be detected. */
    @Test
    void decoding_with_an_allocating_clock_is_detected() {
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
