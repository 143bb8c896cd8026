package io.roseinfer.hub;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.safetensors.Checkpoint;
import io.roseinfer.safetensors.WeightSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Finds the files of a snapshot whose bytes are not those that their blob's name states, after something in it could not be read.
 * Other tools write into the same cache, and disks fail.
 */
final class DamagedBlobs {
    private DamagedBlobs() {}

    /**
     * The damaged blobs behind a snapshot's links; what is no link into the blobs has no hash to be held against. Weights take a
     * second per gigabyte to hash, so they are only looked at if they cannot be opened.
     */
    public static List<Path> in(Path snapshot) {
        boolean weightsOpen = canOpenWeights(snapshot);
        List<Path> damaged = new ArrayList<>();
        try (Stream<Path> entries = Files.walk(snapshot)) {
            for (Path entry : entries.filter(Files::isSymbolicLink)
                    .filter(Files::isRegularFile)
                    .toList()) {
                Path blob = entry.toRealPath();
                boolean small = Files.size(blob) <= Limits.CONFIG_BYTES;
                if ((small || !weightsOpen) && isDamaged(blob)) {
                    damaged.add(blob);
                }
            }
        } catch (IOException e) {
            throw FileFailure.reading(snapshot, e);
        }
        return damaged;
    }

    private static boolean canOpenWeights(Path snapshot) {
        try (WeightSource weights = Checkpoint.open(snapshot)) {
            return !weights.names().isEmpty();
        } catch (BadModel e) {
            return false;
        }
    }

    private static boolean isDamaged(Path blob) throws IOException {
        Optional<Etag> etag = etag(blob);
        return etag.isPresent() && !etag.get().matches(blob);
    }

    /** The hash that a blob bears as its name. */
    public static Optional<Etag> etag(Path blob) {
        return Etag.parse(blob.getFileName().toString());
    }
}
