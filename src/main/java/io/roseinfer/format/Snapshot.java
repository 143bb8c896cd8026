package io.roseinfer.format;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.safetensors.Checkpoint;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A repository's files at one commit, as far as the cache has them.
 *
 * @param id the spelling of the id whose folder this is
 */
record Snapshot(HubId id, CacheFolder folder, String commit) {

    Path directory() {
        return folder.snapshot(commit);
    }

    /** The files without which it is no model: its configuration and all of its weights. */
    List<String> missing() {
        List<String> missing = new ArrayList<>();
        if (!has(HubClient.CONFIG)) {
            missing.add(HubClient.CONFIG);
        }
        List<Path> weights = Checkpoint.files(directory());
        if (weights.isEmpty()) {
            missing.add(Checkpoint.SINGLE);
        } else if (weights.getFirst().endsWith(Checkpoint.INDEX)) {
            missingShards(missing);
        }
        return missing;
    }

    private void missingShards(List<String> missing) {
        try {
            Checkpoint.shards(directory().resolve(Checkpoint.INDEX)).stream()
                    .filter(shard -> !has(shard))
                    .forEach(missing::add);
        } catch (BadModel unreadable) {
            missing.add(Checkpoint.INDEX);
        }
    }

    /**
     * The tokenizer's files of which nobody knows yet whether the repository has them: another tool may have wanted the weights
     * alone. None if {@code tokenizer.json} is there, which needs no other.
     */
    List<String> unknownTokenizerFiles() {
        if (has(HubClient.TOKENIZER)) {
            return List.of();
        }
        return HubClient.TOKENIZER_FILES.stream()
                .filter(name -> !has(name) && !folder.isKnownAbsent(commit, name))
                .toList();
    }

    private boolean has(String file) {
        return Files.exists(directory().resolve(file));
    }
}
