package io.roseinfer.hub;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Limits;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.safetensors.Safetensors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Finds models that any Hugging Face tool has put into the local cache. Reads only what is needed: a snapshot must have
 * a configuration and all of its weights.
 */
final class HubCache {
    private final Path cacheDirectory;

    /** Creates a view of a cache directory, which need not exist. */
    public HubCache(Path cacheDirectory) {
        this.cacheDirectory = cacheDirectory;
    }

    /** Returns a complete snapshot, under either id of a moved repository. */
    public Optional<Snapshot> find(HubId id) {
        return snapshots(id).stream()
                .filter(snapshot -> snapshot.missing().isEmpty())
                .findFirst();
    }

    /** Returns the reason why the cache has no complete snapshot: none at all, or missing files. */
    public String whatIsMissing(HubId id) {
        List<Snapshot> snapshots = snapshots(id);
        String where = FileFailure.shown(cacheDirectory);
        if (snapshots.isEmpty()) {
            return id + " is not in the cache " + where;
        }
        return id + " is incomplete in the cache " + where + ": its snapshot lacks "
                + Quoted.names(snapshots.getFirst().missing());
    }

    private List<Snapshot> snapshots(HubId id) {
        List<Snapshot> found = new ArrayList<>();
        for (HubId spelling : id.spellings()) {
            CacheFolder folder = new CacheFolder(cacheDirectory, spelling);
            folder.commit(id.revision())
                    .map(commit -> new Snapshot(spelling, folder, commit))
                    .filter(snapshot -> Files.isDirectory(snapshot.directory()))
                    .ifPresent(found::add);
        }
        return found;
    }

    /**
     * Returns the blobs behind a snapshot's links whose hash differs from their name: other tools write to the same
     * cache, and disks fail. Weights take a second per gigabyte to hash, so they are only verified if they cannot be
     * opened.
     */
    static List<Path> damagedBlobs(Path snapshot) {
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
        try (Checkpoint weights = Safetensors.open(snapshot)) {
            return !weights.names().isEmpty();
        } catch (BadModel e) {
            return false;
        }
    }

    private static boolean isDamaged(Path blob) throws IOException {
        Optional<Etag> etag = Etag.of(blob);
        return etag.isPresent() && !etag.get().matches(blob);
    }
}
