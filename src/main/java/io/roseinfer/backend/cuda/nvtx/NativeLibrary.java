package io.roseinfer.backend.cuda.nvtx;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;
import java.util.Optional;

/**
 * Whether the JNI library of {@code native/} is in use. The jar carries it if there was a C compiler when the jar was made; it is
 * copied to the temporary folder and loaded from there, once. Without it the JDK's foreign functions do the same work.
 */
public final class NativeLibrary {
    private static final NativeLibrary INSTANCE = load(resource(), Path.of(System.getProperty("java.io.tmpdir")));

    private final Optional<String> refusal;

    private NativeLibrary(Optional<String> refusal) {
        this.refusal = refusal;
    }

    /** The process's own. */
    public static NativeLibrary instance() {
        return INSTANCE;
    }

    /** Where the library for this machine is in the jar. */
    static String resource() {
        String processor = System.getProperty("os.arch").equals("aarch64") ? "arm64" : "x86_64";
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        return "/io/roseinfer/native/" + system + "-" + processor + "/libroseinfer.so";
    }

    /** Loads the library of this resource by way of a file in {@code folder}, which is gone again afterwards. */
    @SuppressWarnings("restricted") // native by nature
    static NativeLibrary load(String resource, Path folder) {
        try (InputStream library = NativeLibrary.class.getResourceAsStream(resource)) {
            if (library == null) {
                return new NativeLibrary(
                        Optional.of("there was no C compiler or no jni.h when this build was made (tools/build)"));
            }
            Path file = Files.createTempFile(folder, "libroseinfer-", ".so");
            try {
                Files.copy(library, file, StandardCopyOption.REPLACE_EXISTING);
                System.load(file.toAbsolutePath().toString());
            } finally {
                Files.deleteIfExists(file); // Linux keeps what is mapped.
            }
            return new NativeLibrary(Optional.empty());
        } catch (IOException | UnsatisfiedLinkError e) {
            return new NativeLibrary(
                    Optional.of(
                            "it cannot be loaded from " + folder + " (" + e.getMessage()
                                    + "); if programs may not run from there (noexec), name another folder with -Djava.io.tmpdir=FOLDER"));
        }
    }

    /** Whether {@link NativeCalls} can be called. */
    public boolean loaded() {
        return refusal.isEmpty();
    }

    /** Whether profiler ranges go through NVTX's header. */
    boolean hasNvtx() {
        return loaded() && NativeCalls.hasNvtx();
    }

    /** By which way profilers' ranges go, and why. */
    public String description() {
        if (!loaded()) {
            return "by Java, without the native library: " + refusal.orElseThrow();
        }
        return NativeCalls.hasNvtx()
                ? "by NVTX's header, in the native library"
                : "by Java: the native library was built without NVTX's header";
    }
}
