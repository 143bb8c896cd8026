package io.roseinfer.safetensors;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.checkpoint.Checkpoint;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.stream.Stream;

/**
 * The weights of a model directory in Hugging Face layout. Of several checkpoints in one directory the first of
 * {@code model.safetensors}, {@code model.safetensors.index.json}, {@code model.safetensors.zst} is taken, always.
 */
public final class Safetensors {
    /** The file of a checkpoint that is one file. */
    public static final String SINGLE = "model.safetensors";

    /** The index of a checkpoint in shards. */
    public static final String INDEX = "model.safetensors.index.json";

    static final String COMPRESSED = "model.safetensors.zst";

    /** The ending of a file of tensors. */
    public static final String PLAIN_SUFFIX = ".safetensors";

    /** The ending of a compressed file of tensors. */
    public static final String ZSTD_SUFFIX = ".safetensors.zst";

    private static final List<String> BY_PREFERENCE = List.of(SINGLE, INDEX, COMPRESSED);

    private Safetensors() {}

    /**
     * The checkpoint files present in a directory, the one that {@link #open} takes first; empty if there is none. A caller
     * that wants to say which was chosen over which looks here.
     */
    public static List<Path> files(Path directory) {
        return BY_PREFERENCE.stream()
                .map(directory::resolve)
                .filter(Files::exists)
                .toList();
    }

    /**
     * Opens a model directory's weights: headers are checked, no tensor of a plain file is read yet.
     *
     * @throws BadModel if there are none, or they break a rule of the format
     */
    public static Checkpoint open(Path directory) {
        if (!Files.isDirectory(directory)) {
            String seen = Files.exists(directory) ? "is not a directory" : "no such directory";
            throw new BadModel(FileFailure.shown(directory) + ": " + seen
                    + "; a model is a directory with config.json and model.safetensors");
        }
        List<Path> files = files(directory);
        if (files.isEmpty()) {
            BY_PREFERENCE.stream()
                    .map(directory::resolve)
                    .filter(Files::isSymbolicLink)
                    .forEach(FileFailure::requireRegular);
            throw none(directory);
        }
        Path first = files.getFirst();
        return first.endsWith(INDEX) ? ShardedCheckpoint.open(first) : openFile(first);
    }

    /**
     * Reads a zstd-compressed safetensors stream, as the built-in model is one, into native memory. The stream is trusted as to
     * its size and left open.
     *
     * @param description what messages call it
     * @throws BadModel if it is no such stream
     */
    public static Checkpoint openCompressed(String description, InputStream compressed) {
        return SafetensorsZstd.open(description, compressed);
    }

    /**
     * The files that an {@link #INDEX} names: plain relative names that stay inside its directory. Whether they exist is not looked at.
     *
     * @throws BadModel if it cannot be read or breaks a rule of the format
     */
    public static SortedSet<String> shards(Path index) {
        return ShardIndex.read(index).shards();
    }

    static Checkpoint openFile(Path file) {
        return file.toString().endsWith(ZSTD_SUFFIX) ? SafetensorsZstd.open(file) : SafetensorsFile.open(file);
    }

    private static BadModel none(Path directory) {
        String looked =
                FileFailure.shown(directory) + ": has no weights: looked for " + String.join(", ", BY_PREFERENCE);
        try (Stream<Path> listing = Files.list(directory)) {
            List<String> others = listing.map(path -> path.getFileName().toString())
                    .filter(Safetensors::looksLikeWeights)
                    .sorted()
                    .toList();
            return new BadModel(
                    others.isEmpty()
                            ? looked + "; download them"
                            : looked + "; found " + Quoted.names(others) + ", which are not read; "
                                    + otherFormat(directory)
                                            .orElse("a file in safetensors format needs one of these names, any other"
                                                    + " format has to be converted to it"));
        } catch (IOException e) {
            return FileFailure.reading(directory, e);
        }
    }

    /** Returns which format a directory holds that is known and not read, and what to use instead. */
    public static Optional<String> otherFormat(Path directory) {
        if (!files(directory).isEmpty()) {
            return Optional.empty();
        }
        if (Files.exists(directory.resolve("adapter_model.safetensors"))) {
            return Optional.of("this is a LoRA adapter, which is no model by itself: merge it into its base model");
        }
        if (Files.exists(directory.resolve("consolidated.safetensors"))) {
            return Optional.of(
                    "these weights are not in Hugging Face format: use the files model-*.safetensors beside them");
        }
        try (Stream<Path> listing = Files.list(directory)) {
            return listing.anyMatch(file -> file.toString().endsWith(".gguf"))
                    ? Optional.of("GGUF is not read: use the safetensors weights that it was made from")
                    : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static boolean looksLikeWeights(String name) {
        return Stream.of(".bin", ".safetensors", ".incomplete", ".pt", ".pth", ".gguf", ".zst", ".h5", ".msgpack")
                .anyMatch(name::endsWith);
    }
}
