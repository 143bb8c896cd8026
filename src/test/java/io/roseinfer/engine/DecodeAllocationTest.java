package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.Precision;
import io.roseinfer.backend.cpu.KernelChoice;
import io.roseinfer.base.Clock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Open streams decode in the steady state, and neither the engine's thread nor the device's allocate. See {@link DecodeWindows}. */
class DecodeAllocationTest {
    private static byte[] sink = {};

    @ParameterizedTest
    @CsvSource({"SCALAR, false", "SCALAR, true", "VECTOR, false"})
    void decoding_withOpenStreams_comesToAllocateNothing(KernelChoice kernels, boolean profiled) {
        assertThat(DecodeWindows.bytes(kernels, profiled, Clock.system(), DecodeWindows.MOST))
                .last()
                .isEqualTo(0L);
    }

    /**
     * Where the compiler knows the class of a vector by its profile only, it may compile the call before there is one and box
     * vectors ever after, in one process of some. Without profiles it does so in all.
     */
    @ParameterizedTest
    @EnumSource(names = {"FP32", "BF16", "INT8", "INT4"})
    void decoding_whenTheCompilerHasNoTypeProfile_comesToAllocateNothing(Precision weights) throws Exception {
        assertThat(withoutTypeProfiles(weights)).last().isEqualTo("0");
    }

    private static List<String> withoutTypeProfiles(Precision weights) throws IOException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--add-modules=jdk.incubator.vector",
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:-UseTypeProfile",
                        "-cp",
                        System.getProperty("java.class.path"),
                        DecodeWindows.class.getName(),
                        weights.name())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        } finally {
            process.destroyForcibly();
        }
    }

    /** That what is allocated would be seen. */
    @Test
    void decoding_withAClockThatAllocates_neverDoes() {
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
