package io.roseinfer.backend.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.roseinfer.FreshJvm;
import io.roseinfer.base.RoseException.BackendUnavailable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.SizeTPointer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CudaLibraryTest {
    private static UnsatisfiedLinkError missing(String library) {
        UnsatisfiedLinkError outer = new UnsatisfiedLinkError("no jnicudart in java.library.path");
        outer.initCause(new UnsatisfiedLinkError(
                "libjnicudart.so: " + library + ": cannot open shared object file: No such file or directory"));
        return outer;
    }

    @ParameterizedTest
    @CsvSource({
        "libcuda.so.1, the NVIDIA driver's libcuda.so.1 is not on this machine, install the NVIDIA driver",
        "libcudart.so.13, the CUDA runtime libcudart.so.13 was not found, LD_LIBRARY_PATH",
        "version `GLIBC_2.34' not found, this machine's C library is too old, glibc 2.34",
        "no such thing, its native libraries cannot be loaded, they come for Linux on x86-64 alone"
    })
    void missing_library_is_named_with_a_remedy(String library, String what, String advice) {
        CudaLibrary cuda = new CudaLibrary(() -> {
            throw missing(library);
        });
        BackendUnavailable refusal = catchThrowableOfType(BackendUnavailable.class, cuda::require);
        assertThat(refusal.getMessage()).startsWith("device cuda: " + what).contains(library, advice, "use device cpu");
        assertThat(refusal.getMessage().lines()).hasSize(1);
        assertThat(refusal.exitCode()).isEqualTo(4);
    }

    /** JavaCPP's default limit of four heaps is exceeded by the weights of any model worth a GPU. */
    @Test
    void off_heap_memory_does_not_block_preset_allocations() throws IOException {
        assertThat(FreshJvm.run(FullMemory.class, List.of("-Xmx64m"))).containsExactly("allocated");
    }

    static final class FullMemory {
        private FullMemory() {}

        /** Allocates six heaps of memory, tries to load the presets, which needs a driver, and allocates as they do. */
        public static void main(String[] args) throws ClassNotFoundException {
            MemorySegment filled = Arena.global().allocate(384L << 20);
            filled.fill((byte) 1);
            try {
                CudaLibrary.loadPresets();
            } catch (LinkageError withoutADriver) {
                Loader.load(Pointer.class);
            }
            try (SizeTPointer allocated = new SizeTPointer(1)) {
                System.out.println(allocated.isNull() ? "not allocated" : "allocated");
            }
        }
    }

    @Test
    void second_require_reports_the_first_cause() {
        List<String> attempts = new ArrayList<>();
        CudaLibrary cuda = new CudaLibrary(() -> {
            attempts.add("load");
            throw attempts.size() == 1 ? missing("libcuda.so.1") : new NoClassDefFoundError("cudart");
        });
        BackendUnavailable first = catchThrowableOfType(BackendUnavailable.class, cuda::require);
        BackendUnavailable second = catchThrowableOfType(BackendUnavailable.class, cuda::require);
        assertThat(attempts).hasSize(1);
        assertThat(second.getMessage()).isEqualTo(first.getMessage()).contains("libcuda.so.1");
    }
}
