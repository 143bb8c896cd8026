package io.roseinfer.backend.cuda.driver;

import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BackendUnavailable;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.util.Optional;

/**
 * The gate in front of the native libraries. They are loaded once; if that fails, the first cause is what everybody is told, not
 * the {@code NoClassDefFoundError} that every later attempt would die of.
 */
public final class CudaLibrary {
    private static final String PRESETS = "org.bytedeco.cuda.global.cudart";

    /** Most bytes that the process may have in memory when JavaCPP allocates; 0 is no limit. */
    private static final String MEMORY_LIMIT = "org.bytedeco.javacpp.maxPhysicalBytes";

    private static final String DRIVER = "libcuda.so.1";

    private static final CudaLibrary INSTANCE = new CudaLibrary(CudaLibrary::loadPresets);

    /** Loads the libraries, or throws why not. */
    @FunctionalInterface
    interface Loading {
        void load() throws ClassNotFoundException;
    }

    private final Loading loading;
    private boolean attempted;
    private Optional<BackendUnavailable> refusal = Optional.empty();

    /**
     * Loads the presets. JavaCPP, below them, refuses to allocate while the process has more than four times its heap in memory,
     * unless a property of its says otherwise when it is loaded. Weights and KV blocks lie outside of the heap.
     */
    static void loadPresets() throws ClassNotFoundException {
        if (System.getProperty(MEMORY_LIMIT) == null) {
            System.setProperty(MEMORY_LIMIT, "0");
        }
        Class<?> unused = Class.forName(PRESETS);
    }

    CudaLibrary(Loading loading) {
        this.loading = loading;
    }

    /** The process's own libraries. */
    static CudaLibrary instance() {
        return INSTANCE;
    }

    /**
     * Whether the driver's own library can be loaded, which it can on every system that a driver was installed on, unless the JVM is told to
     * allow no native access ({@code --illegal-native-access=deny}): then no driver can be used.
     */
    @SuppressWarnings("restricted") // native access is what this package is for
    public static boolean hasDriver() {
        try {
            SymbolLookup unused = SymbolLookup.libraryLookup(DRIVER, Arena.global());
            return true;
        } catch (IllegalArgumentException | IllegalCallerException notFound) {
            return false;
        }
    }

    /**
     * Returns once the libraries are loaded.
     *
     * @throws BackendUnavailable the same at every call, if they cannot be
     */
    synchronized void require() {
        if (!attempted) {
            attempted = true;
            try {
                loading.load();
            } catch (LinkageError | ClassNotFoundException e) {
                refusal = Optional.of(explain(e));
            }
        }
        if (refusal.isPresent()) {
            throw refusal.get();
        }
    }

    /** The missing library, as the loader's innermost cause names it, and where to get it. */
    static BackendUnavailable explain(Throwable failure) {
        Throwable cause = failure;
        StringBuilder all = new StringBuilder();
        for (Throwable next = failure; next != null; next = next.getCause()) {
            all.append(next.getMessage()).append('\n');
            cause = next;
        }
        String seen = " (" + oneLine(cause) + ")";
        if (all.indexOf("libcuda.so") >= 0) {
            return refusal(
                    failure,
                    "the NVIDIA driver's libcuda.so.1 is not on this machine" + seen,
                    Remedy.of("install the NVIDIA driver"));
        }
        if (all.indexOf("libcudart.so") >= 0) {
            return refusal(
                    failure,
                    "the CUDA runtime libcudart.so.13 was not found" + seen,
                    Remedy.of("install the CUDA 13 runtime or add its folder to LD_LIBRARY_PATH"));
        }
        if (all.indexOf("GLIBC") >= 0) {
            return refusal(
                    failure,
                    "this machine's C library is too old" + seen,
                    Remedy.of("glibc 2.34 or newer is needed (Debian 12, Ubuntu 22.04, RHEL 9)"));
        }
        return refusal(
                failure,
                "its native libraries cannot be loaded" + seen,
                Remedy.of("they come for Linux on x86-64 alone"));
    }

    private static BackendUnavailable refusal(Throwable cause, String problem, Remedy remedy) {
        return new BackendUnavailable("device cuda: " + problem, cause, remedy, Remedy.USE_CPU);
    }

    private static String oneLine(Throwable cause) {
        String message = cause.getMessage();
        return message == null
                ? cause.getClass().getSimpleName()
                : message.lines().findFirst().orElse("").strip();
    }
}
