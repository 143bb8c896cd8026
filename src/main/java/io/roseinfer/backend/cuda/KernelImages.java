package io.roseinfer.backend.cuda;

import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BackendUnavailable;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The compiled kernels of this build: resources with a manifest of toolkit version and hashes. A build without nvcc has none. Every
 * file is available as PTX, which newer devices and drivers compile at start; Hopper's also as cubin, which loads at once.
 *
 * @param toolkit version of nvcc, such as {@code 13.0}
 * @param sourceHash SHA-256 over the sources
 * @param files name and SHA-256 of each file
 * @param arguments PTX types of each compiled kernel, {@code u64 u32 f32}, by {@code target.kernel}
 */
public record KernelImages(String toolkit, String sourceHash, List<File> files, Map<String, String> arguments) {
    private static final String FOLDER = "/io/roseinfer/backend/cuda/kernels/";
    private static final String KERNEL = "kernel.";
    private static final String PTX = ".ptx";
    private static final String CUBIN = ".cubin";

    /** A PTX or cubin file, named {@code module.target.ptx} or {@code module.target.cubin}. */
    public record File(String name, String sha256) {
        String module() {
            return name.substring(0, name.indexOf('.'));
        }

        String target() {
            return name.substring(name.indexOf('.') + 1, name.lastIndexOf('.'));
        }

        boolean compiled() {
            return name.endsWith(CUBIN);
        }
    }

    public KernelImages {
        files = List.copyOf(files);
        arguments = Map.copyOf(arguments);
    }

    /** Returns the kernels of this build; empty if it was made without nvcc. */
    public static Optional<KernelImages> find() {
        try (InputStream manifest = KernelImages.class.getResourceAsStream(FOLDER + "manifest.properties")) {
            if (manifest == null) {
                return Optional.empty();
            }
            Properties properties = new Properties();
            properties.load(manifest);
            return Optional.of(of(properties));
        } catch (IOException e) {
            throw new BackendUnavailable(
                    "device cuda: the kernels' manifest cannot be read (" + e.getMessage() + ")", e);
        }
    }

    /** Returns the images in words, such as {@code PTX for sm_80, sm_90, sm_90a, machine code for sm_90a, made by nvcc 13.0}. */
    public String description() {
        String compiled = targets(true);
        return "PTX for " + targets(false) + (compiled.isEmpty() ? "" : ", machine code for " + compiled)
                + ", made by nvcc " + toolkit;
    }

    private String targets(boolean compiled) {
        return files.stream()
                .filter(file -> file.compiled() == compiled)
                .map(File::target)
                .distinct()
                .sorted()
                .collect(Collectors.joining(", "));
    }

    /** Returns the kernels of this build, or throws if there are none. */
    public static KernelImages require() {
        return find().orElseThrow(() -> new BackendUnavailable(
                "device cuda: this build carries no kernels, because it was made without nvcc",
                Remedy.of(
                        "build it again in a checkout with nvcc 13 or newer on the PATH (tools/build; tools/bundle for an archive)"),
                Remedy.USE_CPU));
    }

    static KernelImages of(Properties manifest) {
        List<File> files = new ArrayList<>();
        Map<String, String> arguments = new HashMap<>();
        for (String key : manifest.stringPropertyNames()) {
            if (key.startsWith(KERNEL)) {
                arguments.put(key.substring(KERNEL.length()), manifest.getProperty(key));
            } else if (key.endsWith(PTX) || key.endsWith(CUBIN)) {
                files.add(new File(key, manifest.getProperty(key)));
            }
        }
        files.sort((a, b) -> a.name().compareTo(b.name()));
        return new KernelImages(
                manifest.getProperty("toolkit", "unknown"),
                manifest.getProperty("sources", "unknown"),
                files,
                arguments);
    }

    /** Returns the PTX types of a compiled kernel's arguments, such as {@code u64 u32 f32}. */
    String arguments(KernelTarget target, String kernel) {
        return Objects.requireNonNull(arguments.get(target.suffix() + "." + kernel));
    }

    /** Returns the names of a target's kernels. */
    public Set<String> kernels(KernelTarget target) {
        String prefix = target.suffix() + ".";
        return arguments.keySet().stream()
                .filter(key -> key.startsWith(prefix))
                .map(key -> key.substring(prefix.length()))
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Returns the PTX files of a target, one per module. */
    List<File> of(KernelTarget target) {
        return files.stream()
                .filter(file -> !file.compiled() && file.target().equals(target.suffix()))
                .toList();
    }

    /** Returns the files that a module may be loaded from, best first: cubin if present, then PTX. */
    List<File> forms(File ptx) {
        return files.stream()
                .filter(file ->
                        file.module().equals(ptx.module()) && file.target().equals(ptx.target()))
                .sorted(Comparator.comparing(File::compiled).reversed())
                .toList();
    }

    /** Reads a file, verifies its hash and appends a zero byte, since the driver takes PTX as a C string. */
    static byte[] read(File file) {
        try (InputStream in = KernelImages.class.getResourceAsStream(FOLDER + file.name())) {
            byte[] image = in == null ? new byte[0] : in.readAllBytes();
            String hash = HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(image));
            if (!hash.equals(file.sha256())) {
                throw new BackendUnavailable(
                        "device cuda: " + file.name() + " is not what the build's manifest lists (SHA-256 " + hash
                                + ", " + file.sha256() + " expected); rebuild with tools/build");
            }
            return Arrays.copyOf(image, image.length + 1);
        } catch (IOException e) {
            throw new BackendUnavailable("device cuda: " + file.name() + " cannot be read (" + e.getMessage() + ")", e);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java runtime has SHA-256", e);
        }
    }
}
