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
 * The weights of a model directory in Hugging Face layout. If a directory has several checkpoints, the first of
 * {@code model.safetensors}, {@code model.safetensors.index.json} and {@code model.safetensors.zst} is used.
 */
public final class Safetensors {
    /** Name of a checkpoint in one file. */
    public static final String SINGLE = "model.safetensors";

    /** Name of the index of a sharded checkpoint. */
    public static final String INDEX = "model.safetensors.index.json";

    static final String COMPRESSED = "model.safetensors.zst";

    /** Suffix of safetensors files. */
    public static final String PLAIN_SUFFIX = ".safetensors";

    /** Suffix of compressed safetensors files. */
    public static final String ZSTD_SUFFIX = ".safetensors.zst";

    private static final List<String> BY_PREFERENCE = List.of(SINGLE, INDEX, COMPRESSED);

    private Safetensors() {}

    /** Returns the checkpoint files in a directory, the one that {@link #open} uses first; empty if there is none. */
    public static List<Path> files(Path directory) {
        return BY_PREFERENCE.stream()
                .map(directory::resolve)
                .filter(Files::exists)
                .toList();
    }

    /**
     * Opens a model directory's weights. Headers are checked; tensors of uncompressed files are not read yet.
     *
     * @throws BadModel if there are none, or they violate the format
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
     * Reads a zstd-compressed safetensors stream, such as the built-in model's, into native memory. Its size is not
     * limited, and it stays open.
     *
     * @param description its name in messages
     * @throws BadModel if it is not such a stream
     */
    public static Checkpoint openCompressed(String description, InputStream compressed) {
        return SafetensorsZstd.open(description, compressed);
    }

    /**
     * Returns the file names in an {@link #INDEX}: plain relative names inside its directory. Whether they exist is not
     * checked.
     *
     * @throws BadModel if it cannot be read or violates the format
     */
    public static SortedSet<String> shards(Path index) {
        return ShardIndex.read(index).shards();
    }

    static Checkpoint openFile(Path file) {
        return file.toString().endsWith(ZSTD_SUFFIX) ? SafetensorsZstd.open(file) : SafetensorsFile.open(file);
    }

    private static BadModel none(Path directory) {
        String looked = FileFailure.shown(directory) + ": has no weights; expected " + String.join(", ", BY_PREFERENCE);
        try (Stream<Path> listing = Files.list(directory)) {
            List<String> others = listing.map(path -> path.getFileName().toString())
                    .filter(Safetensors::looksLikeWeights)
                    .sorted()
                    .toList();
            return new BadModel(
                    others.isEmpty()
                            ? looked + "; download them"
                            : looked + "; found " + Quoted.names(others) + ", which cannot be read; "
                                    + otherFormat(directory)
                                            .orElse("rename a safetensors file to one of these names,"
                                                    + " or convert another format to it"));
        } catch (IOException e) {
            return FileFailure.reading(directory, e);
        }
    }

    /** Returns the unsupported format that a directory holds, with a remedy, if it is a known one. */
    public static Optional<String> otherFormat(Path directory) {
        if (!files(directory).isEmpty()) {
            return Optional.empty();
        }
        if (Files.exists(directory.resolve("adapter_model.safetensors"))) {
            return Optional.of("this is a LoRA adapter without its base model; merge it into the base model");
        }
        if (Files.exists(directory.resolve("consolidated.safetensors"))) {
            return Optional.of(
                    "these weights are not in Hugging Face format; use the model-*.safetensors files of the same repository");
        }
        try (Stream<Path> listing = Files.list(directory)) {
            return listing.anyMatch(file -> file.toString().endsWith(".gguf"))
                    ? Optional.of("GGUF is not supported; use the safetensors weights it was converted from")
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
