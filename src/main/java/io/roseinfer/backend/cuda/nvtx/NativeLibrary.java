package io.roseinfer.backend.cuda.nvtx;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;
import java.util.Optional;

/**
 * The JNI library of {@code native/}. The jar has it if it was built with a C compiler; it is copied to the temporary folder and loaded
 * from there once. Without it the JDK's foreign functions do the same.
 */
public final class NativeLibrary {
    private static final NativeLibrary INSTANCE = load(resource(), Path.of(System.getProperty("java.io.tmpdir")));

    private final Optional<String> refusal;

    private NativeLibrary(Optional<String> refusal) {
        this.refusal = refusal;
    }

    /** Returns the process-wide instance. */
    public static NativeLibrary instance() {
        return INSTANCE;
    }

    /** Returns the resource of the library for this machine. */
    static String resource() {
        String processor = System.getProperty("os.arch").equals("aarch64") ? "arm64" : "x86_64";
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        return "/io/roseinfer/native/" + system + "-" + processor + "/libroseinfer.so";
    }

    /** Loads the library by way of a temporary file in {@code folder}. */
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
                Files.deleteIfExists(file); // Linux keeps the mapping.
            }
            return new NativeLibrary(Optional.empty());
        } catch (IOException | UnsatisfiedLinkError e) {
            return new NativeLibrary(
                    Optional.of(
                            "it cannot be loaded from " + folder + " (" + e.getMessage()
                                    + "); if programs may not run from there (noexec), name another folder with -Djava.io.tmpdir=FOLDER"));
        }
    }

    /** Returns whether {@link NativeCalls} can be called. */
    public boolean loaded() {
        return refusal.isEmpty();
    }

    /** Returns whether profiler ranges go through NVTX's header. */
    boolean hasNvtx() {
        return loaded() && NativeCalls.hasNvtx();
    }

    /** Describes how profiler ranges are emitted, and why. */
    public String description() {
        if (!loaded()) {
            return "by Java, without the native library: " + refusal.orElseThrow();
        }
        return NativeCalls.hasNvtx()
                ? "by NVTX's header, in the native library"
                : "by Java: the native library was built without NVTX's header";
    }
}
