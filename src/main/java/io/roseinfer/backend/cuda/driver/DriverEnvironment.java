package io.roseinfer.backend.cuda.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * What the driver reads from the process's environment when it starts. Java cannot change that environment, the C library can.
 *
 * <p>By default the driver brings a kernel onto the device when it is first launched: a step in the middle of serving then waits
 * and takes device memory. {@code CUDA_MODULE_LOADING=EAGER} makes it do so when the module is loaded.
 */
final class DriverEnvironment {
    private DriverEnvironment() {}

    /** Asks for all kernels at load, unless the user has said otherwise. To be called before the driver is initialised. */
    static void loadKernelsEagerly() {
        setIfAbsent("CUDA_MODULE_LOADING", "EAGER");
    }

    /** Only advice: on systems without {@code setenv} there is no CUDA either. */
    @SuppressWarnings("restricted")
    static void setIfAbsent(String name, String value) {
        Linker linker = Linker.nativeLinker();
        linker.defaultLookup().find("setenv").ifPresent(function -> {
            MethodHandle setenv = linker.downcallHandle(
                    function,
                    FunctionDescriptor.of(
                            ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
            try (Arena arena = Arena.ofConfined()) {
                int ignored = (int) setenv.invokeExact(arena.allocateFrom(name), arena.allocateFrom(value), 0);
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        });
    }
}
