package io.roseinfer.format;

import io.roseinfer.base.RoseException.BadModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Finds models that some Hugging Face tool, ours or another, has put into the local cache. Reads only what it needs: a
 * snapshot counts if it has a configuration and all of its weights.
 */
final class HubCache {
    /** The branch that an id without a revision means. */
    static final String BRANCH = "main";

    private final Path cacheDirectory;

    HubCache(Path cacheDirectory) {
        this.cacheDirectory = cacheDirectory;
    }

    /** The directory of a complete snapshot, under either spelling of a moved id. */
    Optional<Path> find(HubId id) {
        return snapshots(id).stream()
                .filter(snapshot -> missing(snapshot).isEmpty())
                .findFirst();
    }

    /** What keeps the cache from answering, in words: nothing there, or files missing from a snapshot. */
    String whatIsMissing(HubId id) {
        List<Path> snapshots = snapshots(id);
        String where = FileFailure.shown(cacheDirectory);
        if (snapshots.isEmpty()) {
            return id + " is not in the cache " + where;
        }
        return id + " is not complete in the cache " + where + ": its snapshot lacks "
                + Quoted.names(missing(snapshots.getFirst()));
    }

    private List<Path> snapshots(HubId id) {
        List<Path> found = new ArrayList<>();
        for (HubId spelling : id.spellings()) {
            CacheFolder folder = new CacheFolder(cacheDirectory, spelling);
            folder.commit(BRANCH)
                    .map(folder::snapshot)
                    .filter(Files::isDirectory)
                    .ifPresent(found::add);
        }
        return found;
    }

    private static List<String> missing(Path snapshot) {
        List<String> missing = new ArrayList<>();
        if (!Files.exists(snapshot.resolve(HubClient.CONFIG))) {
            missing.add(HubClient.CONFIG);
        }
        List<Path> weights = Checkpoint.files(snapshot);
        if (weights.isEmpty()) {
            missing.add(Checkpoint.SINGLE);
        } else if (weights.getFirst().endsWith(Checkpoint.INDEX)) {
            missingShards(snapshot, missing);
        }
        return missing;
    }

    private static void missingShards(Path snapshot, List<String> missing) {
        try {
            ShardIndex.read(snapshot.resolve(Checkpoint.INDEX)).shards().stream()
                    .filter(shard -> !Files.exists(snapshot.resolve(shard)))
                    .forEach(missing::add);
        } catch (BadModel unreadable) {
            missing.add(Checkpoint.INDEX);
        }
    }
}
