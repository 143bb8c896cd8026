package io.roseinfer.backend.cuda.driver;

import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BackendUnavailable;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.util.Optional;

/**
 * Loads the native libraries once. If that fails, every attempt reports the first cause rather than a later
 * {@code NoClassDefFoundError}.
 */
public final class CudaLibrary {
    private static final String PRESETS = "org.bytedeco.cuda.global.cudart";

    /** Property for JavaCPP's limit on the process's physical memory; 0 is no limit. */
    private static final String MEMORY_LIMIT = "org.bytedeco.javacpp.maxPhysicalBytes";

    private static final String DRIVER = "libcuda.so.1";

    private static final CudaLibrary INSTANCE = new CudaLibrary(CudaLibrary::loadPresets);

    /** Loads the libraries or throws. */
    @FunctionalInterface
    interface Loading {
        void load() throws ClassNotFoundException;
    }

    private final Loading loading;
    private boolean attempted;
    private Optional<BackendUnavailable> refusal = Optional.empty();

    /**
     * Loads the presets. By default JavaCPP refuses to allocate if the process uses more than four times its heap; weights and KV blocks
     * are outside of the heap, so its limit is removed first.
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

    /** Returns the process-wide instance. */
    static CudaLibrary instance() {
        return INSTANCE;
    }

    /**
     * Returns whether the driver's library can be loaded: on every system with a driver, unless the JVM denies native access
     * ({@code --illegal-native-access=deny}).
     */
    @SuppressWarnings("restricted") // native access
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
     * @throws BackendUnavailable the same at every call, if they cannot be loaded
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

    /** Returns an error that names the missing library, from the innermost cause, and its remedy. */
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
