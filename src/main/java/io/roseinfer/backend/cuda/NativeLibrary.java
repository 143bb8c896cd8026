package io.roseinfer.backend.cuda;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;
import java.util.Optional;

/**
 * Whether the JNI library of {@code native/} is in use. The jar carries it if there was a C compiler when the jar was made; it is
 * copied to the temporary folder and loaded from there, once. Without it JavaCPP and the JDK's foreign functions do the same work.
 * {@code -Droseinfer.native=false} leaves it out.
 */
final class NativeLibrary {
    private static final String SWITCH = "roseinfer.native";
    private static final String DRIVER = "libcuda.so.1";
    private static final NativeLibrary INSTANCE = Boolean.parseBoolean(System.getProperty(SWITCH, "true"))
            ? load(resource(), Path.of(System.getProperty("java.io.tmpdir")))
            : new NativeLibrary(Optional.of("-D" + SWITCH + "=false leaves it out"));

    private final Optional<String> refusal;
    private Optional<String> driverRefusal = Optional.empty();
    private boolean driverOpened;

    private NativeLibrary(Optional<String> refusal) {
        this.refusal = refusal;
    }

    /** The process's own. */
    static NativeLibrary instance() {
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
    boolean loaded() {
        return refusal.isEmpty();
    }

    /** Whether profiler ranges go through NVTX's header. */
    boolean hasNvtx() {
        return loaded() && NativeCalls.hasNvtx();
    }

    /** Whether the driver's functions have been found, so that {@link NativeCalls#launch} and its like can be called. */
    synchronized boolean opensDriver() {
        if (loaded() && !driverOpened && driverRefusal.isEmpty()) {
            String wrong = NativeCalls.open(DRIVER);
            driverOpened = wrong.isEmpty();
            driverRefusal = driverOpened ? Optional.empty() : Optional.of(wrong);
        }
        return driverOpened;
    }

    /** Whether it is in use, and why not. */
    synchronized String description() {
        if (refusal.isPresent()) {
            return "no native library, Java makes a step's calls one by one: " + refusal.get();
        }
        return "native library in use"
                + driverRefusal.map(why -> ", but not for steps: " + why).orElse("")
                + (NativeCalls.hasNvtx() ? "" : "; built without NVTX's header, which Java stands in for");
    }
}
